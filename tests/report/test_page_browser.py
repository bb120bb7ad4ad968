"""The page in a real browser: sliders dragged, and every figure held against costboost.metrics."""

import os
import re

import numpy as np
import pytest

from browser import Watched, chromium, wait_until
from costboost import CostBoostClassifier, Costs, make_report
from costboost.costs import as_costs
from costboost.decisions import Parity, parity_frontier
from costboost.metrics import normalized_cost, savings_curve, savings_score, total_cost
from costboost.report.rows import compute_figures
from costboost.report.subject import affected
from report_cases import CASES, FRAUD, GRADES, draw_values, fraud_model, fraud_rows

READY = "window.costboostReport && window.costboostReport.ready"


@pytest.fixture(scope="module")
def browser():
    with chromium(os.environ) as running:
        yield running


@pytest.fixture
def view(browser, tmp_path):
    """Return a function that opens a report; all of its pages must be silent and offline."""
    contexts, opened = [], []

    def show(report, width=1280, ready=True, **how):
        path = report.save(tmp_path / f"{len(contexts)}.html")
        context = browser.new_context(viewport={"width": width, "height": 900}, **how)
        contexts.append(context)
        watched = Watched(context.new_page())
        opened.append((watched, path))
        watched.page.goto(path.as_uri())
        if ready:
            wait_until(watched.page, READY)
        return watched.page

    yield show
    for watched, path in opened:
        assert watched.said == []
        assert watched.asked == [path.as_uri()]
    for context in contexts:
        context.close()


def amount(text):
    """Read a sum of money as the page writes it."""
    return float(re.sub(r"[^0-9.\-]", "", text))


def shown(page):
    return page.evaluate("costboostReport.state.values")


def settle(page):
    page.evaluate(
        "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )


def assert_page_agrees(page, rows):
    """Hold what is written on the page against the metrics, at the values that it has."""
    settle(page)
    values = np.reshape(shown(page), rows.prices.values.shape)
    state = page.evaluate("costboostReport.state")
    decided = rows.decide(values, limit=state["limit"], action=state["action"])
    given = {"costs": rows.costs(values), "sample_weight": rows.weight}
    total = total_cost(rows.labels, decided, **given)
    # Half a cent is what writing cents loses.
    assert amount(page.inner_text("#bill")) == pytest.approx(total, abs=0.00501)
    lines = page.locator("#policies tr").all()
    for a, line in zip(rows.order[1], lines[1 : 1 + len(rows.actions)], strict=True):
        constant = np.full(len(rows), rows.actions[a])
        bill, _, saved, share = (text.inner_text() for text in line.locator("td").all())
        other = total_cost(rows.labels, constant, **given)
        assert amount(bill) == pytest.approx(other, abs=0.00501)
        assert amount(saved) == pytest.approx(other - total, abs=0.00501)
        if share != "-":
            saving = savings_score(rows.labels, decided, baseline=rows.actions[a], **given)
            assert amount(share) == pytest.approx(100 * saving, abs=0.501)


@pytest.mark.parametrize("name", CASES)
def test_page_opens_with_the_figures_that_python_wrote(view, name):
    report = CASES[name]()
    silent = view(report, ready=False, java_script_enabled=False)
    live = view(report)
    for part in ("#bill", "#bill-interval", "#headline", "#policies", "#confusion"):
        assert live.inner_text(part) == silent.inner_text(part)
    assert_page_agrees(live, report.page_rows)


@pytest.mark.parametrize("name", CASES)
def test_page_and_python_agree_at_any_prices(view, name):
    rows, rng = CASES[name]().page_rows, np.random.RandomState(7)
    page = view(CASES[name]())
    asked = [draw_values(rows, rng) for _ in range(12)]
    limits = [None, None, 0, 1, 7, 40] * 2
    if rows.decided is not None:
        limits = [None] * 12
    found = page.evaluate(
        """asked => asked.map(([values, limit]) => {
            const f = costboostReport.reprice({ values, limit });
            return { ...f, taken: Array.from(f.taken), counts: Array.from(f.counts),
                     money: Array.from(f.money) };
        })""",
        [[values.ravel().tolist(), limit] for values, limit in zip(asked, limits, strict=True)],
    )
    for values, limit, page_says in zip(asked, limits, found, strict=True):
        says = compute_figures(rows, values, limit=limit)
        assert page_says["taken"] == rows.decide_codes(values, limit=limit).tolist()
        close = {"rtol": 1e-9, "atol": 1e-6}
        bill = page_says["bill"]
        np.testing.assert_allclose([bill["total"], bill["low"], bill["high"]], says.bill, **close)
        np.testing.assert_allclose(page_says["counts"], says.counts.ravel(), **close)
        np.testing.assert_allclose(page_says["money"], says.money.ravel(), **close)
        for other, policy in zip(page_says["policies"], says.policies, strict=True):
            for mine, ours in ((other["bill"], policy.bill), (other["saved"], policy.saved)):
                np.testing.assert_allclose(
                    [mine["total"], mine["low"], mine["high"]], ours, **close
                )
        if rows.positive is not None and page_says["point"] is not None:
            cost = normalized_cost(
                rows.labels, rows.actions[page_says["taken"]], costs=rows.costs(values),
                sample_weight=rows.weight,
            )  # fmt: skip
            assert page_says["point"]["cost"] == pytest.approx(cost, abs=1e-9)


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1.0, 1e103, 1e150, 1e290])
def test_page_and_python_agree_at_the_ends_of_what_costs_may_be(view, scale):
    report = CASES["constant"]()
    rows, page = report.page_rows, view(report)
    values = scale * rows.prices.values
    found = page.evaluate(
        """values => {
            const { bill, policies } = costboostReport.reprice({ values, limit: null });
            return [bill, ...policies.flatMap((p) => [p.bill, p.saved])]
                .map((b) => [b.total, b.low, b.high]);
        }""",
        values.ravel().tolist(),
    )
    says = compute_figures(rows, values)
    bills = [says.bill, *(bill for p in says.policies for bill in (p.bill, p.saved))]
    np.testing.assert_allclose(found, bills, rtol=1e-12, atol=0)


def test_sliders_are_dragged(view):
    report = CASES["by_row"]()
    page = view(report)
    before = page.inner_text("#bill")
    for name, share in (("#r1", 0.6), ("#r2", 0.2), ("#r3", 0.9), ("#r0", 0.1)):
        box = page.locator(name).bounding_box()
        middle = box["y"] + box["height"] / 2
        old = shown(page)
        page.mouse.move(box["x"] + box["width"] * 0.4, middle)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] * (0.4 + share) / 2, middle)
        page.mouse.move(box["x"] + box["width"] * share, middle)
        page.mouse.up()
        assert shown(page) != old
        assert_page_agrees(page, report.page_rows)
    assert page.inner_text("#bill") != before
    page.click("#reset")
    settle(page)
    assert page.inner_text("#bill") == before
    assert page.locator("#reset").is_hidden()


def test_an_action_of_one_price_moves_in_both_cells(view):
    page = view(CASES["by_row"]())
    page.fill("#v1", "12.5")
    assert shown(page) == [0, 12.5, 1, 12.5]
    page.uncheck("#tie")
    page.fill("#v3", "2")
    assert shown(page) == [0, 12.5, 1, 2]
    page.fill("#v3", "")
    assert shown(page) == [0, 12.5, 1, 2]  # nothing is no price
    assert_page_agrees(page, CASES["by_row"]().page_rows)


def test_everything_moves_by_keyboard(view):
    report = CASES["constant"]()
    page = view(report)
    order = []
    for _ in range(24):
        page.keyboard.press("Tab")
        order.append(page.evaluate("document.activeElement.id"))
    wanted = ["r1", "v1", "r2", "v2", "r3", "v3", "r0", "v0", "limit-on", "limit", "limit-range"]
    assert [name for name in order if name in wanted] == wanted
    page.focus("#r1")
    for key in ("ArrowRight", "ArrowRight", "PageUp", "End", "ArrowLeft"):
        old = shown(page)
        page.keyboard.press(key)
        assert shown(page) != old
        assert_page_agrees(page, report.page_rows)


def test_a_number_beyond_the_slider_is_taken(view):
    report = CASES["constant"]()
    page = view(report)
    page.fill("#v2", "123456.78")
    assert shown(page)[2] == 123456.78
    assert float(page.input_value("#r2")) >= 100_000
    assert_page_agrees(page, report.page_rows)


def test_what_is_free_may_cost_as_much_as_the_largest_price(view):
    X, y = fraud_rows(300)
    costs = [
        Costs(fp=0, fn="amount"),
        Costs(fp=0, fn=9000),
        Costs(fp=0, fn=0.002),
    ]
    mean = float(np.mean(X["amount"]))
    for given, least in zip(costs, [mean, 9000, 0.002], strict=True):
        page = view(make_report(fraud_model(), X, y, costs=given))
        assert least <= float(page.get_attribute("#r1", "max")) <= 2.5 * least


def test_nothing_costs_anything(view):
    page = view(CASES["constant"]())
    for cell in range(4):
        page.fill(f"#v{cell}", "0")
    settle(page)
    assert page.inner_text("#bill") == "$0.00"
    assert "NaN" not in page.inner_text("main")
    assert "NaN" not in page.inner_html("main")


def test_prices_are_not_negative_unless_they_may_be(view):
    page = view(CASES["constant"]())
    page.fill("#v1", "-3")
    assert shown(page)[1] == 1
    assert (
        page.inner_text("[role=alert]:visible") == "A price is not below 0: the bill is that of 1."
    )
    assert page.get_attribute("#v1", "aria-invalid") == "true"
    page.press("#v1", "Tab")
    assert page.input_value("#v1") == "1"
    page.fill("#v1", "4")
    assert page.locator("[role=alert]:visible, [aria-invalid]").count() == 0
    assert shown(page)[1] == 4
    page.fill("#limit", "-5")
    assert "A capacity is not below 0" in page.inner_text("[role=alert]:visible")
    assert page.evaluate("costboostReport.state.limit") is None
    page.fill("#limit", "5")
    assert page.locator("[role=alert]:visible").count() == 0
    matrix = view(CASES["three_classes"]())
    matrix.fill("#v1", "-3")
    assert "that of 2" in matrix.inner_text("[role=alert]:visible")
    assert shown(matrix)[1] == 2
    earning = CASES["benefits"]()
    page = view(earning)
    page.fill("#v0", "-7.5")
    assert shown(page)[0] == -7.5
    assert_page_agrees(page, earning.page_rows)


def test_the_cells_of_a_matrix_move(view):
    report = CASES["three_classes"]()
    page = view(report)
    page.fill("#v5", "17")
    page.focus("#v2")
    page.evaluate("document.activeElement.blur()")
    page.focus("#chosen")
    page.keyboard.press("ArrowRight")
    values = shown(page)
    assert values[5] == 17
    assert values[2] > 9
    assert_page_agrees(page, report.page_rows)
    page.select_option("#class", label="white")
    assert "white" in page.get_attribute("#reliability-chart svg", "aria-label")


def test_multipliers_of_actions_move(view):
    report = CASES["actions"]()
    page = view(report)
    for cell, value in (("#v3", "2.5"), ("#v1", "9"), ("#v2", "0.3")):
        page.fill(cell, value)
        assert_page_agrees(page, report.page_rows)
    page.select_option("#limit-action", label="review")
    page.check("#limit-on")
    page.fill("#limit", "5")
    assert_page_agrees(page, report.page_rows)
    taken = np.asarray(page.evaluate("Array.from(costboostReport.figures.taken)"))
    assert (taken == report.page_rows.actions.tolist().index("review")).sum() == 5


def test_capacity_holds_in_each_period(view):
    report = CASES["by_row"]()
    rows, page = report.page_rows, view(report)
    assert "in each period" in page.inner_text("#limit-words")
    free = amount(page.inner_text("#bill"))
    page.fill("#limit", "2")  # writing a limit sets it
    assert page.is_checked("#limit-on")
    assert_page_agrees(page, rows)
    taken = np.asarray(page.evaluate("Array.from(costboostReport.figures.taken)"))
    assert np.bincount(rows.period, weights=taken).max() == 2
    more = amount(page.inner_text("#bill")) - free
    assert f"{abs(more):,.2f}" in page.inner_text("#limit-says")
    page.uncheck("#limit-on")
    settle(page)
    assert amount(page.inner_text("#bill")) == free


def test_who_is_affected_moves_where_asked_for(view):
    report = CASES["by_row"]()
    rows, page = report.page_rows, view(report)
    page.fill("#v1", "30")
    settle(page)
    taken = rows.decide_codes([[0, 30], [1, 30]])
    labels, codes = rows.groups["merchant"]
    first = page.locator("#who-table tbody tr").first.inner_text().split("\t")
    says = affected(rows, (labels, codes), taken)[0]
    assert first[0].strip() == labels[0]
    assert amount(first[1]) == says["rows"]
    assert amount(first[2]) == pytest.approx(100 * says["hit"] / says["rows"], abs=0.51)
    page.select_option("#who", label="channel")
    assert "opened with" in page.inner_text("#who-says")


@pytest.mark.parametrize("name", ["by_row", "constant", "first_is_positive"])
def test_savings_by_share_are_points_of_the_curve(view, name):
    rows, rng = CASES[name]().page_rows, np.random.RandomState(3)
    page = view(CASES[name]())
    asked = [rows.prices.values, *(draw_values(rows, rng) for _ in range(4))]
    found = page.evaluate(
        "asked => asked.map(values => costboostReport.reprice({ values }).curve)",
        [values.ravel().tolist() for values in asked],
    )
    for values, curve in zip(asked, found, strict=True):
        costs, act = rows.costs(values), rows.positive
        expected = costs.expected(rows.proba)
        gain = expected[:, 1 - act] - expected[:, act]
        share, saved = savings_curve(rows.labels, gain, costs=costs)
        at = np.array(curve["curve"])
        assert at[0].tolist() == [0, 0]
        assert at[-1, 0] == len(rows)
        own = np.interp(at[:, 0] / len(rows), share, saved)
        np.testing.assert_allclose(at[:, 1], own, rtol=1e-9, atol=1e-6)
        assert curve["best"][1] <= saved.max() + 1e-6


def hostile():
    X, y = fraud_rows(400, 5)
    X = X.copy()
    evil = "</script><script>window.hacked=1</script><img src=x onerror='window.hacked=1'>"
    X["merchant"] = np.where(X["merchant"] == "fuel", evil, "<script>window.hacked=1</script>")
    X["merchant"] = X["merchant"].astype("category")
    labels = np.where(y == 1, evil, "\u2028<b>'\"&amp;")
    model = CostBoostClassifier("adamec", n_estimators=5, cv=2, random_state=0).fit(X, labels)
    return evil, make_report(
        model, X, labels, costs=Costs(fp=1, fn=5, positive=evil), groups="all", rows=True,
        currency="<i>", title=evil, notes={evil: evil}, current=labels,
    )  # fmt: skip


def test_no_value_becomes_code(view):
    evil, report = hostile()
    page = view(report)
    assert page.evaluate("window.hacked") is None
    assert page.title() == evil
    assert page.inner_text("h1") == evil
    assert evil in page.locator("#who-table tbody th").all_inner_texts()
    page.fill("#v1", "3")
    settle(page)
    assert page.evaluate("window.hacked") is None
    assert page.locator("img, #policies b, h1 script").count() == 0
    # Even if an escape were forgotten, the page allows no script but its own.
    policy = page.get_attribute("meta[http-equiv]", "content")
    assert re.fullmatch(r".*script-src 'sha256-[^' ]+'; .*", policy)


def test_every_control_and_picture_has_a_name(view):
    for name in ("by_row", "three_classes"):
        page = view(CASES[name]())
        unnamed = page.evaluate(
            """() => [...document.querySelectorAll(
                    "input, select, button, svg[role=img], [role=region]")]
                .filter(e => !(e.getAttribute("aria-label") || e.textContent.trim()
                               || (e.labels && e.labels.length && e.labels[0].textContent.trim())))
                .map(e => e.outerHTML)"""
        )
        assert unnamed == []
        ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
        assert len(ids) == len(set(ids))
        heads = page.evaluate(
            "[...document.querySelectorAll('h1, h2, h3')].map(e => +e.tagName[1])"
        )
        assert heads[0] == 1
        assert max(np.diff(heads)) <= 1  # no level is left out


def test_the_bill_is_announced_once_it_rests(view):
    page = view(CASES["constant"]())
    page.fill("#v1", "7")
    wait_until(page, "document.getElementById('announce').textContent !== ''")
    assert page.inner_text("#bill") in page.text_content("#announce")


# Elements that reach beyond the page or out of what holds them, or hide some of their own content;
# but for tables that scroll and say so.
CUT_OFF = """() => {
    const width = document.documentElement.clientWidth;
    const style = (e) => getComputedStyle(e);
    const unseen = (e) => e && (style(e).clipPath !== "none" || unseen(e.parentElement));
    const shown = [...document.body.querySelectorAll("*")].filter((e) =>
        e.checkVisibility() && e.getClientRects().length && !unseen(e) && !e.closest(".skip"));
    const holder = (e) => (style(e).display === "contents" ? holder(e.parentElement) : e);
    const name = (e) => `${e.tagName}#${e.id}.${e.getAttribute("class") || ""}: `
        + `${(e.textContent || "").trim().slice(0, 40)}`;
    const hinted = (e) => e.classList.contains("more")
        && getComputedStyle(e, "::before").content.includes("Scroll sideways");
    const scrolls = (e) => e && e.closest(".scroll.more");
    const found = [];
    for (const e of shown) {
        const box = e.getBoundingClientRect();
        if (scrolls(e) && !e.matches(".scroll")) continue;
        if (box.right > width + 1) found.push(`beyond the page: ${name(e)}`);
        const around = holder(e.parentElement).getBoundingClientRect();
        const isFree = e.closest("svg") || style(e).position === "fixed";
        if (!isFree && box.right > around.right + 1) found.push(`wider: ${name(e)}`);
        const isField = e.matches("svg, svg *, input, select");
        if (isField || style(e).overflow === "visible") continue;
        const isWider = e.scrollWidth > e.clientWidth + 1;
        if (isWider && !hinted(e)) found.push(`hidden: ${name(e)}`);
        if (e.scrollHeight > e.clientHeight + 1) found.push(`below: ${name(e)}`);
    }
    for (const text of document.querySelectorAll("svg text")) {
        const box = text.getBoundingClientRect();
        if (!box.width || scrolls(text)) continue;
        if (box.right > width + 1 || box.left < -1) found.push(`text: ${name(text)}`);
    }
    return found;
}"""
WIDTHS = [1400, 1200, 1000, 800, 600, 380, 320]


@pytest.mark.parametrize("name", ["by_row", "five_classes", "actions"])
@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_cut_off(view, name, width):
    page = view(CASES[name](), width=width)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    settle(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(CUT_OFF) == []
    # Sums of other sizes, and a window of another width.
    for cell in np.flatnonzero(np.asarray(shown(page)) > 0)[:2]:
        page.fill(f"#v{cell}", "98765432.1")
    settle(page)
    settle(page)
    assert page.evaluate(CUT_OFF) == []
    page.set_viewport_size({"width": 380 if width > 380 else 1200, "height": 700})
    settle(page)
    settle(page)
    assert page.evaluate(CUT_OFF) == []


def test_tables_that_are_wider_than_a_phone_keep_their_first_column_in_sight(view):
    page = view(CASES["five_classes"](), width=380)
    table = page.locator(".scroll.more:has(#confusion)")
    table.evaluate("(e) => { e.scrollLeft = 200; }")
    left = table.bounding_box()["x"]
    for name in page.locator("#confusion th[scope=row]").all():
        assert name.bounding_box()["x"] == pytest.approx(left, abs=1)


@pytest.mark.parametrize("width", WIDTHS)
def test_labels_of_prices_are_words_not_letters(view, width):
    page = view(CASES["five_classes"](), width=width)
    lines = page.evaluate(
        """() => [...document.querySelectorAll(".cells th")].map((e) => {
            const range = document.createRange();
            range.selectNodeContents(e);
            return [e.textContent, new Set([...range.getClientRects()].map((r) => r.top)).size];
        })"""
    )
    assert len(lines) == 10
    assert all(1 <= n <= len(text.split()) for text, n in lines)


@pytest.mark.parametrize("height", [500, 900])
@pytest.mark.parametrize("name", ["by_row", "five_classes", "actions"])
def test_every_price_can_be_reached_and_the_bill_is_in_sight(view, name, height):
    page = view(CASES[name](), width=1200)
    page.set_viewport_size({"width": 1200, "height": height})
    settle(page)
    for field in page.locator("#controls input:visible").all():
        field.scroll_into_view_if_needed()
        box = field.bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= height
        bills = [page.locator(bill).bounding_box() for bill in ("#bill", "#strip")]
        seen = [bill for bill in bills if bill and 0 <= bill["y"] <= height - bill["height"] + 1]
        assert seen


def test_classes_stand_in_the_order_of_the_costs(view):
    page = view(CASES["five_classes"]())
    cells = page.locator("#confusion th[scope=row]").all_inner_texts()
    assert cells == [*GRADES, "All"]
    heads = page.locator("#confusion thead th").all_inner_texts()
    assert heads == ["Truth", *(f"decided {grade}" for grade in GRADES), "All"]
    assert page.locator(".cells tbody th").all_inner_texts() == GRADES
    assert page.locator(".cells thead th").all_inner_texts() == GRADES
    names = page.locator("#policies th").all_inner_texts()
    assert names == ["This model", *(f"Always {grade}" for grade in GRADES)]
    for choice in ("#class", "#limit-action"):
        assert page.locator(f"{choice} option").all_inner_texts() == GRADES
    # What stands under a name belongs to it.
    costs = 12_345.5 * np.abs(np.subtract.outer(np.arange(5), np.arange(5))) ** 2
    fields = page.locator(".cells input").all()
    assert [float(field.input_value()) for field in fields] == costs.ravel().tolist()
    rows = CASES["five_classes"]().page_rows
    decided = rows.decide()
    counts = [[np.sum((rows.labels == k) & (decided == a)) for a in GRADES] for k in GRADES]
    found = [amount(text) for text in page.locator("#confusion tbody td b").all_inner_texts()]
    assert np.reshape(found, (6, 6))[:5, :5].tolist() == counts


def test_dark_follows_the_system_and_the_button(view):
    def paper(page):
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    light, dark = view(CASES["constant"]()), view(CASES["constant"](), color_scheme="dark")
    assert paper(light) == "rgb(255, 255, 255)"
    assert paper(dark) != paper(light)
    night = paper(dark)
    light.click("#theme")
    assert paper(light) == night
    dark.click("#theme")
    assert paper(dark) == "rgb(255, 255, 255)"
    dark.emulate_media(media="print")
    light.emulate_media(media="print")
    assert paper(light) == paper(dark) == "rgb(255, 255, 255)"  # paper is white


def test_prints_everything_open(view, tmp_path):
    page = view(CASES["by_row"]())
    page.evaluate(
        "addEventListener('beforeprint', () => { window.closed_ = "
        "document.querySelectorAll('details.row:not([open])').length; })"
    )
    made = page.pdf(format="A4", print_background=True)
    assert made.startswith(b"%PDF")
    assert page.evaluate("window.closed_") == 0
    assert page.locator("details:not([open])").count() > 0  # and closed again


def test_lives_inside_a_notebook(browser):
    report = CASES["constant"]()
    context = browser.new_context()
    watched = Watched(context.new_page())
    watched.page.set_content(report._repr_html_())
    frame = watched.page.frames[1]
    wait_until(frame, READY)
    before = frame.inner_text("#bill")
    frame.fill("#v1", "30")
    wait_until(frame, f"document.getElementById('bill').innerText !== {before!r}")
    assert watched.said == []
    context.close()


def test_a_browser_that_cannot_inflate_says_so(browser, tmp_path):
    report = make_report(fraud_model(), *fraud_rows(100, 1), costs=FRAUD)
    context = browser.new_context()
    page = context.new_page()
    page.add_init_script("delete window.DecompressionStream")
    page.goto(report.save(tmp_path / "old.html").as_uri())
    page.wait_for_selector("#broken:not([hidden])")
    assert "cannot be moved" in page.inner_text("#broken")
    assert page.inner_text("#bill") != ""
    context.close()


def test_scenarios_are_chosen_from_a_menu(view):
    """The sliders go there, the bill is that of the prices, and moving one leaves the menu."""
    X, y = fraud_rows(600)
    prices = {"recession": Costs(fp=8, tp=6, fn=lambda table: 6 * table["amount"])}
    report = make_report(fraud_model(), X, y, costs=FRAUD, scenarios=prices, currency="EUR")
    page = view(report)
    page.select_option("#scenario", label="recession")
    settle(page)
    values = shown(page)
    assert sorted(values) == pytest.approx([0, 6, 6, 8])
    costs = as_costs(prices["recession"], [0, 1], len(y), X)
    proba = fraud_model().predict_proba(X)
    bill = total_cost(y, costs.decide(proba), costs=costs)
    assert amount(page.inner_text("#bill")) == pytest.approx(bill, abs=0.006)
    assert f"EUR {bill:,.2f}" in page.inner_text("#bill-section")  # and in the table beneath
    page.fill("#v1", "9")
    settle(page)
    assert page.input_value("#scenario") == ""
    page.click("#reset")
    settle(page)
    assert page.input_value("#scenario") == "0"
    assert shown(page) == report.page_rows.prices.values.ravel().tolist()


def test_a_page_without_scenarios_has_no_menu(view):
    page = view(make_report(fraud_model(), *fraud_rows(300), costs=FRAUD))
    assert not page.is_visible("#scenario")


def test_the_permitted_difference_is_moved(view):
    """Every point of the frontier is that of Python; by keyboard, too, and there without script."""
    X, y = fraud_rows(900)
    given = Parity("channel", of="blocked", within=0.012)
    report = make_report(fraud_model(), X, y, costs=FRAUD, parity=given, swap={"a": 1 - y})
    proba, costs = fraud_model().predict_proba(X), as_costs(FRAUD, [0, 1], len(y), X)
    found = parity_frontier(
        costs.expected(proba), None, Parity(X["channel"], of="blocked"), actions=[0, 1],
        cheapest=costs.decide(proba, encoded=True), proba=proba, classes=[0, 1], positive=1,
        within=[0.012],
    )  # fmt: skip
    page = view(report)
    opening = page.inner_text("#parity-table")
    silent = view(report, ready=False, java_script_enabled=False)
    assert silent.inner_text("#parity-table") == opening
    assert not silent.is_visible("#parity-at")
    assert page.get_attribute("#parity-at", "aria-valuetext") == "1.2 points"
    page.focus("#parity-at")
    page.keyboard.press("Home")
    for j in range(len(found.within)):
        lines = page.locator("#parity-table tbody tr").all()
        assert len(lines) == len(found.groups) + 1
        for g, line in enumerate(lines):
            cells = [cell.inner_text() for cell in line.locator("td").all()]
            paid = found.cost if g == len(found.groups) else found.group_costs[:, g]
            assert amount(cells[3]) == pytest.approx(paid[0], abs=0.00501)
            assert amount(cells[4]) == pytest.approx(paid[j] - paid[0], abs=0.00501)
            if g < len(found.groups):
                assert amount(cells[2]) == pytest.approx(100 * found.rates[j, g], abs=0.51)
        page.keyboard.press("ArrowRight")
    assert page.get_attribute("#parity-at", "aria-valuetext") == "0 points"
    assert "at no difference" in page.get_attribute("#parity-chart svg", "aria-label")
    assert page.locator("#swap-chart-0 rect").count() == 2
