/* How the page stays up to date: it listens, and reads again whenever it may have missed something. */

/** This page's own address without a slash at its end: a host may have put a prefix in front of it. */
const base = location.pathname.replace(/\/+$/, '');
const REREAD_MS = 15000;
const RETRY_MS = 3000;
let loaded = false;

function showState(state) {
  const shown = byId('state');
  if (shown.dataset.state === state) return;
  shown.dataset.state = state;
  shown.textContent = texts[state];
}

function announce(arrived) {
  if (arrived.length === 0) return;
  byId('announce').textContent =
    arrived.length > 1 ? texts.arrivedMany(arrived.length) : texts.arrived(arrived[0].from, `+${arrived[0].to}`);
}

/** Takes in messages, oldest first, and draws. */
function show(messages, isFresh) {
  const arrived = messages.filter((message) => takeIn(message, isFresh(message)) && isFresh(message));
  announce(arrived);
  renderSoon();
}

async function read(path) {
  const answer = await fetch(base + path, { cache: 'no-store', headers: { accept: 'application/json' } });
  if (!answer.ok) throw new Error(String(answer.status));
  return answer.json();
}

/** Reads the newest messages; those that came while nobody listened are shown as new. */
async function reread() {
  try {
    const before = newest;
    const messages = await read('/phones');
    const known = loaded;
    loaded = true;
    show(messages.reverse(), (message) => known && message.receivedAt > before);
  } catch {
    // The stream's own state tells the reader; the next opening or the next round reads again.
  }
}

/** Reads the whole of one phone, which may be too old to be among the newest. */
async function readPhone(number) {
  try {
    const messages = await read(`/phones/${number}/messages`);
    if (wanted === number) show(messages.slice(-MOST_MESSAGES), () => false);
  } catch {
    // As above.
  }
}

function listen() {
  const source = new EventSource(`${base}/events`);
  source.onopen = () => {
    showState('live');
    reread();
    readCodes();
  };
  source.addEventListener('codes', readCodes);
  source.onmessage = (event) => show([JSON.parse(event.data)], () => true);
  source.onerror = () => {
    showState('lost');
    // A browser comes back by itself unless it has given up.
    if (source.readyState === 2) setTimeout(listen, RETRY_MS);
  };
}

function filterBy(typed) {
  wanted = typed.replace(/\D/g, '');
  if (/^[1-9]\d{6,14}$/.test(wanted)) readPhone(wanted);
  renderSoon();
}

/** The command that sends the first SMS to this very server. */
function curlText() {
  const { path, api } = document.body.dataset;
  const root = location.origin + (base.endsWith(`/${path}`) ? base.slice(0, -path.length - 1) : '');
  const body = JSON.stringify({ signature: 'INFOS', content: texts.hello, number: ['22670000000'] });
  return [
    `curl ${root}/${api}/send/sms`,
    `  -H 'X-Api-Key: ${texts.key}'`,
    "  -H 'Content-Type: application/json'",
    `  -d '${body}'`,
  ].join(' \\\n');
}

function offerCopy() {
  const button = byId('copy');
  // Browsers offer the clipboard on secure addresses only, localhost among them.
  button.hidden = !navigator.clipboard;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(byId('curl').textContent);
    button.textContent = texts.copied;
  });
}

translatePage();
byId('curl').textContent = curlText();
offerCopy();
byId('filter').addEventListener('input', (event) => filterBy(event.target.value));
function rereadAll() {
  if (document.hidden) return;
  reread();
  readCodes();
}
document.addEventListener('visibilitychange', rereadAll);
setInterval(rereadAll, REREAD_MS);
rereadAll();
listen();
