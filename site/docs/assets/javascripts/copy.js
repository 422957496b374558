// Copy buttons: <button class="copy" data-copy="text">. One listener on the document serves every
// page, also those that instant navigation puts in later.

async function put(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without a secure context, or without leave to use the clipboard.
    const area = Object.assign(document.createElement("textarea"), { value: text });
    area.setAttribute("aria-hidden", "true");
    area.style.position = "fixed";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    if (!done) throw new Error("copying was refused");
  }
}

function status() {
  let region = document.getElementById("copy-status");
  if (!region) {
    region = Object.assign(document.createElement("div"), { id: "copy-status" });
    region.setAttribute("role", "status");
    region.setAttribute("aria-live", "polite");
    document.body.append(region);
  }
  return region;
}

function say(button, message) {
  status().textContent = message;
  button.dataset.said = message;
  setTimeout(() => delete button.dataset.said, 1500);
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button.copy");
  if (!button) return;
  try {
    await put(button.dataset.copy);
    button.focus();
    say(button, "Copied");
  } catch {
    say(button, "Not copied");
  }
});

// A live region is announced only if it was there before its text changed.
document$.subscribe(status);
