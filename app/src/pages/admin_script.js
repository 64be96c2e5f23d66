// Everything here is an extra: the pages say the same without it.
const lang = document.documentElement.lang;
const zoned = (at) => at.toLocaleString(lang, { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' }) + ' ' +
  new Intl.DateTimeFormat(lang, { timeZoneName: 'short' }).formatToParts(at).find((part) => part.type === 'timeZoneName').value;

for (const time of document.querySelectorAll('time')) time.title = zoned(new Date(time.dateTime));

// Beside a field in UTC: the same instant in UTC and in the reader's zone.
for (const preview of document.querySelectorAll('output[data-zone]')) {
  const field = document.getElementById(preview.htmlFor.value);
  const show = () => {
    const at = new Date(`${field.value}Z`);
    preview.textContent = Number.isNaN(at.getTime()) ? '' :
      `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC · ${zoned(at)} ${preview.dataset.zone}`;
  };
  field.addEventListener('input', show);
  show();
}

// The live board: told once a second while somebody looks.
const AGAIN_MS = 1000;
const LONGEST_MS = 30000;
const PATIENCE_MS = 5000;
const SHOWN = 60;
const board = document.querySelector('[data-board]');
if (board) {
  const part = (name) => document.querySelector(`[data-n="${name}"]`);
  const number = new Intl.NumberFormat(lang, { maximumFractionDigits: 1 });
  const say = (name, value) => { part(name).textContent = value === null ? '–' : number.format(value); };
  const pulse = board.querySelector('.pulse');
  const samples = [];
  let last = null;
  let timer = 0;

  const draw = () => {
    const top = Math.max(5, ...samples.flatMap((sample) => Object.values(sample)));
    for (const name of ['accepted', 'confirmed', 'failed']) {
      const points = samples.map((sample, at) => {
        const x = (SHOWN - samples.length + at) * 600 / (SHOWN - 1);
        return `${x.toFixed(1)},${(118 - sample[name] * 112 / top).toFixed(1)}`;
      });
      board.querySelector(`polyline.${name}`).setAttribute('points', points.join(' '));
    }
    say('top', top);
  };

  const show = ({ now_ms, state, sum, streams, streams_open }) => {
    const total = {
      accepted: sum.live_orders + sum.failed_orders + sum.in_flight,
      confirmed: sum.live_orders,
      failed: sum.failed_orders,
    };
    if (last !== null && now_ms > last.now_ms) {
      const rate = {};
      for (const name in total) {
        rate[name] = Math.max(0, (total[name] - last.total[name]) * 1000 / (now_ms - last.now_ms));
        say(`${name}-rate`, rate[name]);
      }
      samples.push(rate);
      if (samples.length > SHOWN) samples.shift();
      draw();
    }
    const oldest = Math.max(-1, ...streams.map((stream) => stream.oldest_ms ?? -1));
    const added = (name) => streams.reduce((sum, stream) => sum + stream[name], 0);
    say('units', sum.units);
    say('sold', sum.live_orders);
    say('redis-stock', sum.redis_stock);
    say('ledger-stock', sum.ledger_stock);
    say('in-flight', sum.in_flight);
    say('failed', sum.failed_orders);
    say('pending', added('waiting'));
    part('oldest').textContent = oldest < 0 ? '–' : `${number.format(oldest / 1000)} s`;
    say('dead', added('dead'));
    say('drift', sum.drift);
    say('streams', streams_open);
    // While orders are on their way one reading may be off: only the same twice, at rest, is an alarm.
    const rests = sum.in_flight === 0 && sum.drift !== 0;
    part('drift').toggleAttribute('data-drift', rests && last !== null && last.rests && last.drift === sum.drift);
    const badge = part('state');
    badge.dataset.state = state;
    badge.textContent = JSON.parse(badge.dataset.words)[state];
    last = { now_ms, total, rests, drift: sum.drift };
  };

  // Opened anew after every loss: the browser itself gives up for good when it is refused once.
  let source = null;
  let over = false;
  const say_pulse = (word) => {
    pulse.textContent = pulse.dataset[word];
    pulse.dataset.state = word;
  };
  const close = () => {
    clearTimeout(timer);
    source?.close();
    source = null;
  };
  // Refused for good, since the session or the role has ended: the page stays as it is, and the next one says so.
  const refused = async () => {
    const answer = await fetch(`/api/v1/admin/vouchers/${board.dataset.board}/board`).catch(() => null);
    return [401, 403, 404].includes(answer?.status);
  };
  let wait = AGAIN_MS;
  const open = () => {
    close();
    if (document.hidden || over) return;
    let heard = Date.now();
    source = new EventSource(`/api/v1/admin/vouchers/${board.dataset.board}/board/events`);
    const lost = (millis) => {
      say_pulse('lost');
      close();
      timer = setTimeout(open, millis);
    };
    const watch = () => {
      // A connection that was lost without a word: nothing is heard any more.
      if (Date.now() - heard > PATIENCE_MS) lost(AGAIN_MS);
      else timer = setTimeout(watch, AGAIN_MS);
    };
    source.addEventListener('board', (event) => {
      heard = Date.now();
      wait = AGAIN_MS;
      show(JSON.parse(event.data));
      say_pulse('live');
    });
    source.addEventListener('bye', (event) => lost(JSON.parse(event.data).retry_ms));
    source.addEventListener('error', async () => {
      lost(wait * (1 + Math.random()));
      wait = Math.min(2 * wait, LONGEST_MS);
      over = await refused();
    });
    timer = setTimeout(watch, AGAIN_MS);
  };
  document.addEventListener('visibilitychange', () => (document.hidden ? close() : open()));
  open();
}
