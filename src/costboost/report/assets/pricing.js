// Rows and prices -> decisions and bills. Nothing here knows of the document.
//
// A row has probabilities, a true class and prices; C[true, action] is a number for all rows, or a
// multiple of a column of prices. Every step is the one that costboost's Python takes, in the same
// order and in the same float64, so that both decide alike and pay the same.

const Z = 1.959963984540054; // the normal quantile of 0.975

// --- what Python packed

async function inflate(text) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function readArray(head, bytes, start, n) {
  if (head.kind === "whole") {
    const out = new Float64Array(n);
    for (let plane = head.planes - 1; plane >= 0; plane--) {
      const at = start + plane * n;
      for (let i = 0; i < n; i++) out[i] = out[i] * 256 + bytes[at + i];
    }
    if (head.offset !== 0 || head.divisor !== 1) {
      for (let i = 0; i < n; i++) out[i] = (out[i] - head.offset) / head.divisor;
    }
    return out;
  }
  const out = new Float64Array(n);
  const words = new Uint32Array(out.buffer); // low, high: little-endian, as all machines now are
  let low = 0;
  let high = 0;
  const sorted = head.kind === "sorted";
  const word = (plane, i) =>
    (bytes[start + plane * n + i] |
      (bytes[start + (plane + 1) * n + i] << 8) |
      (bytes[start + (plane + 2) * n + i] << 16) |
      (bytes[start + (plane + 3) * n + i] << 24)) >>> 0;
  for (let i = 0; i < n; i++) {
    const stepLow = word(0, i);
    const stepHigh = word(4, i);
    if (sorted) {
      const sum = low + stepLow;
      low = sum >>> 0;
      high = (high + stepHigh + (sum > 0xffffffff ? 1 : 0)) >>> 0;
    } else {
      low = stepLow;
      high = stepHigh;
    }
    words[2 * i] = low;
    words[2 * i + 1] = high;
  }
  return out;
}

function readRows(page, bytes) {
  const n = page.n;
  const found = {};
  let at = 0;
  for (const head of page.arrays) {
    found[head.name] = readArray(head, bytes, at, n);
    at += head.planes * n;
  }
  const whole = (values) => (values ? Int32Array.from(values) : null);
  const K = page.classes.length;
  const rows = {
    n, K, A: page.actions.length, positive: page.positive,
    truth: whole(found.truth), weight: found.weight || null, current: whole(found.current),
    decided: whole(found.decided), period: whole(found.period), added: page.added,
    columnOf: page.columnOf, columns: [], proba: null, work: {},
    groups: page.groups.map((group, j) => whole(found["g" + j])),
  };
  for (let j = 0; found["c" + j]; j++) rows.columns.push(found["c" + j]);
  if (!rows.decided) rows.proba = readProbabilities(found, n, K);
  return rows;
}

// Of the probabilities of a row one may be left out: what the others lack of 1.
function readProbabilities(found, n, K) {
  const proba = [];
  for (let k = 0; k < K; k++) proba.push(found["p" + k] || null);
  const left = proba.indexOf(null);
  if (left >= 0) {
    const rest = new Float64Array(n).fill(1);
    for (const known of proba) if (known) for (let i = 0; i < n; i++) rest[i] -= known[i];
    proba[left] = rest;
  }
  return proba;
}

// Arrays are made once and written again: new memory is what takes longest in a recomputation.
function workspace(rows, name, Kind = Float64Array) {
  const kept = rows.work[name];
  return kept || (rows.work[name] = new Kind(rows.n));
}

// --- deciding

// What each action is expected to cost: sum over k of p(k) C[k, a], k rising.
function expectedCosts(rows, values) {
  const { n, K, A } = rows;
  const expected = [];
  for (let a = 0; a < A; a++) {
    const sums = workspace(rows, "expected" + a).fill(0);
    for (let k = 0; k < K; k++) {
      const cell = k * A + a;
      const value = values[cell];
      const p = rows.proba[k];
      const column = rows.columns[rows.columnOf[cell]];
      if (column) for (let i = 0; i < n; i++) sums[i] += p[i] * (value * column[i]);
      else if (value !== 0) for (let i = 0; i < n; i++) sums[i] += p[i] * value;
    }
    expected.push(sums);
  }
  return expected;
}

// C[k, a] of every row.
function cellOf(rows, values, k, a) {
  const cell = k * rows.A + a;
  const column = rows.columns[rows.columnOf[cell]];
  const value = values[cell];
  const prices = workspace(rows, `cell${cell}`);
  if (column) for (let i = 0; i < rows.n; i++) prices[i] = value * column[i];
  else prices.fill(value);
  return prices;
}

// Two classes: the positive one is decided strictly above its threshold (Elkan 2001). That may round
// to 0 or 1: what is certain is answered.
function decideBinary(rows, values) {
  const { n, positive } = rows;
  const negative = 1 - positive;
  const p = rows.proba[positive];
  const taken = workspace(rows, "taken", Int32Array);
  const [fp, tn] = [cellOf(rows, values, negative, positive), cellOf(rows, values, negative, negative)];
  const [fn, tp] = [cellOf(rows, values, positive, negative), cellOf(rows, values, positive, positive)];
  for (let i = 0; i < n; i++) {
    const a = fp[i] - tn[i];
    const b = fn[i] - tp[i];
    let yes;
    if (a < 0 && b < 0) yes = p[i] < a / (a + b) || p[i] === 0;
    else if (a + b > 0) yes = a < 0 || p[i] > a / (a + b) || (b > 0 && p[i] >= 1);
    else yes = a < 0;
    taken[i] = yes ? positive : negative;
  }
  return taken;
}

function decideCheapest(rows, expected) {
  const { n, A } = rows;
  const taken = workspace(rows, "taken", Int32Array);
  const added = rows.added || new Array(A).fill(0);
  for (let i = 0; i < n; i++) {
    let best = 0;
    let least = expected[0][i] + added[0];
    for (let a = 1; a < A; a++) {
      const cost = expected[a][i] + added[a];
      if (cost < least) {
        least = cost;
        best = a;
      }
    }
    taken[i] = best;
  }
  return taken;
}

// What an action is expected to gain on each row over the cheapest of the others, and which that is.
function gainsOf(rows, expected, action) {
  const { n, A } = rows;
  const gain = workspace(rows, "gain");
  const instead = workspace(rows, "instead", Int32Array);
  for (let i = 0; i < n; i++) {
    let best = -1;
    for (let a = 0; a < A; a++) {
      if (a !== action && (best < 0 || expected[a][i] < expected[best][i])) best = a;
    }
    instead[i] = best;
    gain[i] = expected[best][i] - expected[action][i];
  }
  return { gain, instead };
}

// The upper half of a float64, such that falling values have rising keys (and -0 that of 0).
const keyOf = (value, high) => (value < 0 ? high : ~high & 0x7fffffff) >>> 0;

// Numbers of values by falling size, equal ones in their order: a radix sort of the upper 32 bits, 11
// at a time; the few values that share them are then put in order one by one.
function orderFalling(values) {
  const n = values.length;
  const words = new Uint32Array(values.buffer, values.byteOffset, 2 * n);
  let [key, place, nextKey, nextPlace] = [0, 1, 2, 3].map(() => new Uint32Array(n));
  for (let i = 0; i < n; i++) {
    key[i] = keyOf(values[i], words[2 * i + 1]);
    place[i] = i;
  }
  for (let shift = 0; shift < 32; shift += 11) {
    const start = new Uint32Array(2049);
    for (let i = 0; i < n; i++) start[((key[i] >>> shift) & 2047) + 1]++;
    for (let v = 0; v < 2048; v++) start[v + 1] += start[v];
    for (let i = 0; i < n; i++) {
      const at = start[(key[i] >>> shift) & 2047]++;
      nextKey[at] = key[i];
      nextPlace[at] = place[i];
    }
    [key, place, nextKey, nextPlace] = [nextKey, nextPlace, key, place];
  }
  orderRuns(key, place, values);
  return place;
}

function orderRuns(key, place, values) {
  const n = key.length;
  for (let start = 0; start < n; ) {
    let end = start + 1;
    let isFalling = true;
    for (; end < n && key[end] === key[start]; end++) {
      if (values[place[end]] > values[place[end - 1]]) isFalling = false;
    }
    if (!isFalling) {
      place.subarray(start, end).sort((one, other) => values[other] - values[one] || one - other);
    }
    start = end;
  }
}

// At most `limit` rows (of each period) take the action: those that gain most from it.
function limitAction(rows, free, action, limit, instead, gain) {
  const taken = workspace(rows, "limited", Int32Array);
  taken.set(free);
  const want = [];
  for (let i = 0; i < rows.n; i++) if (free[i] === action) want.push(i);
  const order = orderFalling(Float64Array.from(want, (i) => gain[i]));
  const used = new Map();
  let nextSaves = 0;
  for (const place of order) {
    const i = want[place];
    const period = rows.period ? rows.period[i] : 0;
    const before = used.get(period) || 0;
    used.set(period, before + 1);
    if (before >= limit) taken[i] = instead[i];
    if (before === limit) nextSaves += Math.max(gain[i], 0);
  }
  return { taken, nextSaves };
}

// --- paying

// What each action costs on each row, given its truth.
function pricesOf(rows, values) {
  const { n, A, truth, weight } = rows;
  const prices = [];
  for (let a = 0; a < A; a++) {
    const paid = workspace(rows, "prices" + a);
    for (let i = 0; i < n; i++) {
      const cell = truth[i] * A + a;
      const column = rows.columnOf[cell];
      const price = column < 0 ? values[cell] : values[cell] * rows.columns[column][i];
      paid[i] = weight ? weight[i] * price : price;
    }
    prices.push(paid);
  }
  return prices;
}

function pay(rows, prices, taken, name) {
  const paid = workspace(rows, name);
  for (let i = 0; i < taken.length; i++) paid[i] = prices[taken[i]][i];
  return paid;
}

function sumOf(terms) {
  let sum = 0;
  let lost = 0; // what rounding took away (Neumaier 1974)
  for (let i = 0; i < terms.length; i++) {
    const next = sum + terms[i];
    lost += Math.abs(sum) >= Math.abs(terms[i]) ? sum - next + terms[i] : terms[i] - next + sum;
    sum = next;
  }
  return sum + lost;
}

// A power of two in which squares and cubes of numbers up to `size` are floats: 1 from 1e-90 to 1e90.
function unitOf(size) {
  if (!(size > 0 && size < Infinity)) return 1;
  return 2 ** (300 * Math.trunc((Math.floor(Math.log2(size)) + 1) / 300));
}

// The studentized sum that Hall's transformation takes to the normal quantile z.
function studentOf(z, skew) {
  const root = Math.cbrt(1 + skew * (z - skew / 6));
  return (3 * (z - skew / 6)) / (root * root + root + 1);
}

// A sum over independent rows and its interval; metrics/policies.py says how.
function sumInterval(terms) {
  const total = sumOf(terms);
  const mean = total / terms.length;
  const n = terms.length;
  let [least, most] = [Infinity, -Infinity];
  for (let i = 0; i < n; i++) {
    least = Math.min(least, terms[i]);
    most = Math.max(most, terms[i]);
  }
  const size = Math.max(most - mean, mean - least);
  const unit = unitOf(size);
  let squares = 0;
  let cubes = 0;
  for (let i = 0; i < n; i++) {
    const off = (terms[i] - mean) / unit;
    squares += off * off;
    cubes += off * off * off;
  }
  if (squares === 0) return { total, low: total, high: total };
  const skew = cubes / squares ** 1.5;
  const error = Math.sqrt((squares * n) / (n - 1)) * unit;
  return {
    total,
    low: Math.max(total - error * studentOf(Z, skew), n * least),
    high: Math.min(total - error * studentOf(-Z, skew), n * most),
  };
}

function count(taken, action) {
  let found = 0;
  for (let i = 0; i < taken.length; i++) if (taken[i] === action) found++;
  return found;
}

function shareSaved(before, after) {
  if (before === 0) return after === 0 ? 0 : after > 0 ? -Infinity : Infinity;
  return (before - after) / Math.abs(before);
}

function confusion(rows, taken, paid) {
  const counts = new Float64Array(rows.K * rows.A);
  const money = new Float64Array(rows.K * rows.A);
  for (let i = 0; i < rows.n; i++) {
    const cell = rows.truth[i] * rows.A + taken[i];
    counts[cell] += rows.weight ? rows.weight[i] : 1;
    money[cell] += paid[i];
  }
  return { counts, money };
}

// What is saved, against never taking the action, when the rows that gain most take it: points
// [rows, saved]. Rows are counted in 2 ** 18 classes of gain, 64 to each power of two, and a point is
// where a class ends: it is exact, and no row has to be sorted. Points lie closer up to `focus` rows.
function savingsCurve(rows, prices, action, gain, instead, focus) {
  const words = new Uint32Array(gain.buffer, gain.byteOffset, 2 * rows.n);
  const size = 1 << 18;
  const work = rows.work;
  const counts = (work.classCounts || (work.classCounts = new Uint32Array(size))).fill(0);
  const sums = (work.classSums || (work.classSums = new Float64Array(size))).fill(0);
  for (let i = 0; i < rows.n; i++) {
    const at = keyOf(gain[i], words[2 * i + 1]) >>> 14;
    counts[at]++;
    sums[at] += prices[instead[i]][i] - prices[action][i];
  }
  const curve = [[0, 0]];
  let [done, saved, best] = [0, 0, [0, 0]];
  for (let at = 0; at < size; at++) {
    if (counts[at] === 0) continue;
    done += counts[at];
    saved += sums[at];
    if (saved > best[1]) best = [done, saved];
    const step = done < focus ? focus / 200 : (rows.n - focus) / 100;
    if (done - curve[curve.length - 1][0] >= step || done === rows.n) curve.push([done, saved]);
  }
  return { curve, best };
}

// Where the decisions stand in cost space: PC(+) and normalised cost, by what is at stake.
function operatingPoint(rows, prices, taken) {
  const { n, positive } = rows;
  if (positive === null) return null;
  let onPositives = 0;
  let onNegatives = 0;
  let regret = 0;
  for (let i = 0; i < n; i++) {
    const stake = prices[1][i] - prices[0][i];
    const size = Math.abs(stake);
    if (rows.truth[i] === positive) onPositives += size;
    else onNegatives += size;
    if (stake > 0 ? taken[i] === 1 : taken[i] === 0) regret += size;
  }
  const all = onPositives + onNegatives;
  return all > 0 ? { pc: onPositives / all, cost: regret / all } : null;
}

function byGroup(rows, codes, size, taken, paid, action) {
  const positive = rows.positive === null ? 1 : rows.positive;
  const groups = Array.from({ length: size }, () =>
    ({ rows: 0, hit: 0, good: 0, goodHit: 0, bad: 0, badHit: 0, paid: 0 }));
  for (let i = 0; i < rows.n; i++) {
    const group = groups[codes[i]];
    const w = rows.weight ? rows.weight[i] : 1;
    const isBad = rows.truth[i] === positive;
    const isHit = taken[i] === action;
    group.rows += w;
    group.paid += paid[i];
    if (isHit) group.hit += w;
    if (isBad) group.bad += w;
    else group.good += w;
    if (isHit && isBad) group.badHit += w;
    if (isHit && !isBad) group.goodHit += w;
  }
  return groups;
}

// --- everything that moves with the prices

// `asked`: values (K * A numbers), action and limit (null: none). The arrays `taken` and `paid` of the
// answer are written over by the next call.
function reprice(rows, asked) {
  const { values, action, limit } = asked;
  const prices = pricesOf(rows, values);
  let taken = rows.decided;
  let nextSaves = 0;
  let unlimited = null;
  let curve = null;
  if (!taken) {
    const expected = expectedCosts(rows, values);
    taken = rows.positive !== null && !rows.added
      ? decideBinary(rows, values) : decideCheapest(rows, expected);
    const { gain, instead } = gainsOf(rows, expected, action);
    const focus = Math.min(rows.n, Math.max(8 * count(taken, action), 0.02 * rows.n));
    curve = savingsCurve(rows, prices, action, gain, instead, focus);
    if (limit !== null) {
      unlimited = sumOf(pay(rows, prices, taken, "unlimited"));
      const found = limitAction(rows, taken, action, limit, instead, gain);
      taken = found.taken;
      nextSaves = found.nextSaves;
    }
  }
  const paid = pay(rows, prices, taken, "paid");
  const bill = sumInterval(paid);
  const saved = workspace(rows, "saved");
  const others = rows.current ? [...prices, pay(rows, prices, rows.current, "current")] : prices;
  const policies = others.map((other) => {
    for (let i = 0; i < rows.n; i++) saved[i] = other[i] - paid[i];
    const policy = sumInterval(other);
    return { bill: policy, saved: sumInterval(saved), share: shareSaved(policy.total, bill.total) };
  });
  return {
    bill, policies, taken, paid, acted: count(taken, action), curve, nextSaves, unlimited,
    ...confusion(rows, taken, paid), point: operatingPoint(rows, prices, taken),
  };
}
