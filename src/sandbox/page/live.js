/* Keeps the page up to date: it listens to the event stream, and reads again whenever it may have missed an event. */

/** The page's own path without a trailing slash; the host may have put a prefix before it. */
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

/** Stores messages, oldest first, and redraws. */
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

/** Reads the newest messages; those received since the last known one are shown as new. */
async function reread() {
  try {
    const before = newest;
    const messages = await read('/phones');
    const known = loaded;
    loaded = true;
    show(messages.reverse(), (message) => known && message.receivedAt > before);
  } catch {
    // Ignored: the stream's state is on screen, and the next opening or interval reads again.
  }
}

/** Reads all messages of one phone, which may be older than the newest over all phones. */
async function readPhone(number) {
  try {
    const messages = await read(`/phones/${number}/messages`);
    if (wanted === number) show(messages.slice(-MOST_MESSAGES), () => false);
  } catch {
    // Ignored, as above.
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
    // The browser reconnects by itself unless readyState is CLOSED.
    if (source.readyState === 2) setTimeout(listen, RETRY_MS);
  };
}

function filterBy(typed) {
  wanted = typed.replace(/\D/g, '');
  if (/^[1-9]\d{6,14}$/.test(wanted)) readPhone(wanted);
  renderSoon();
}

/** Returns the command that sends the first SMS to this server. */
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
  // Browsers offer the clipboard only in secure contexts, which include localhost.
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
