"""DeepSeek-V3: what latent attention keeps, how experts are chosen, what a mesh divides."""

import sympy

import membill
from membill.mesh import shard
from membill.plans import plan
from membill.symbols import E, L, L_d, T, b, d, d_c, d_n, d_q, d_r, d_s, d_v, e, h, k, t, t_e

MOE = membill.layer("deepseek_v3", norm="fused")
ROWS = {row.tensor: row for row in MOE.ledger().entries}


def kept_in(scope: str) -> sympy.Expr:
    return dict(MOE.ledger(statistics=False).by_scope())[scope].expr


def test_attention_keeps_latents_and_all_that_is_made_of_them() -> None:
    latents = 2 * 2 * d_q + 2 * (d_c + d_r) + 2 * d_c  # before and after a norm
    heads = 2 * 2 * (d_n + d_r) + 2 * (d_n + d_v) + 2 * 2 * d_v  # q and k, kv, output and its copy
    logsumexp = 4 * h
    normalised = 2 * d  # what both projections read
    assert kept_in("attention") == sympy.expand(
        T * b * (normalised + latents + h * heads + logsumexp)
    )


def test_one_rotated_key_serves_all_heads() -> None:
    made = {op.path: op.output for op in MOE.graph().ops}
    assert made["attention.rotary_k"].shape == (b, T, 1, d_r)
    assert made["attention.k"].shape == (b, T, h, d_n + d_r)


def test_the_router_is_float32_and_keeps_its_input_in_it() -> None:
    scores, weights = 4 * E, 8 * k + 4 * k  # places are int64
    assert kept_in("router") == sympy.expand(T * b * (4 * d + scores + weights))
    assert str(ROWS["router.logits.weight"].dtype) == "float32"


def test_the_bias_of_the_choice_is_a_parameter_without_a_gradient() -> None:
    model = membill.model("deepseek-v3")
    untrained = model.parameters().expr - model.trainable_parameters().expr
    assert sympy.expand(untrained - (L - L_d) * E) == 0
    assert "router.chosen.bias" not in MOE.trainable_labels()


def test_shared_experts_are_divided_as_a_feed_forward_layer_is() -> None:
    mesh = plan(tp=t, ep=e, etp=t_e).mesh
    divided = {name: shard(row.shape, mesh).shape for name, row in ROWS.items()}
    assert divided["shared_experts.gate.weight"] == (d, d_s / t)
    assert divided["shared_experts.product"] == (b, T, d_s / t)
    assert divided["experts.down.weight"][0] == E / e
    assert divided["attention.q_up.weight"] == (d_q, h / t, d_n + d_r)
    assert divided["attention.kv_down.weight"] == (d, d_c + d_r)


def test_flops_count_both_widths_of_a_head() -> None:
    core = {op.path: op for op in MOE.graph().ops}["attention.core.flash"]
    assert sympy.expand(core.flops) == sympy.expand(2 * b * h * T**2 * (d_n + d_r + d_v))


def test_local_layers_of_gemma_3_have_tables_of_their_own() -> None:
    model = membill.model("gemma3")
    names = {row.tensor for part in model.parts for row in part.ledger(plan()).tables}
    assert names == {"cos", "sin", "cos_local", "sin_local"}
    local = {part.layer.chosen["local"]: part.cache for group in model.groups for part in group}
    assert local == {True: "sliding-window", False: "grouped-query"}
