/* Keeps the page up to date: it listens to the event stream, and reads again whenever it may have missed an event. */

const REREAD_MS = 15000;
const RETRY_MS = 3000;
/** The wait after an event, because it comes before its delivery is settled, and because many events may come at once. */
const SETTLE_MS = 400;
const PENDING_MS = 3000;
let loaded = false;
let rereads = null;
/** Counts the messages of the stream. With it the page recognises an empty answer that is older than a message of the stream. */
let streamed = 0;

function showState(state) {
  const shown = byId('state');
  if (shown.dataset.state === state) return;
  shown.dataset.state = state;
  shown.textContent = texts[state];
}

function announce(arrived) {
  if (arrived.length === 0) return;
  byId('announce').textContent =
    arrived.length > 1 ? texts.arrivedMany(arrived.length) : texts.arrived(arrived[0].fromText, arrived[0].toText);
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

/** Reads the newest messages. Those that are later than the last known message are shown as new. */
async function reread() {
  try {
    const before = newest;
    const streamedBefore = streamed;
    const messages = await read('/phones');
    const known = loaded;
    loaded = true;
    if (messages.length === 0 && streamed === streamedBefore) phones.clear();
    show(messages.reverse(), (message) => known && message.receivedAt > before);
    if (anyPending()) rereadAfter(PENDING_MS);
  } catch {
    // The error is ignored, because the screen shows the stream's state, and the next opening or interval reads again.
  }
}

/** Reads again after some time. Requests that come meanwhile share this read. */
function rereadAfter(ms) {
  if (rereads !== null) return;
  rereads = setTimeout(() => {
    rereads = null;
    reread();
  }, ms);
}

/** Reads the messages of one phone. They may be older than the newest messages over all phones. */
async function readPhone(number) {
  try {
    const messages = await read(`/phones/${number}/screen`);
    if (wanted === number) show(messages.slice(0, MAX_MESSAGES).reverse(), () => false);
  } catch {
    // The error is ignored, as above.
  }
}

function listen() {
  const source = new EventSource(`${base}/events`);
  source.onopen = () => {
    showState('live');
    reread();
    readSessions();
    readHooks();
  };
  source.addEventListener('codes', readSessions);
  source.addEventListener('changed', reread);
  source.addEventListener('hooks', readHooks);
  source.onmessage = (event) => {
    streamed += 1;
    show([JSON.parse(event.data)], () => true);
    rereadAfter(SETTLE_MS);
  };
  source.onerror = () => {
    showState('lost');
    // The browser reconnects by itself unless `readyState` is CLOSED.
    if (source.readyState === 2) setTimeout(listen, RETRY_MS);
  };
}

function filterBy(typed) {
  wanted = typed.replace(/\D/g, '');
  if (/^[1-9]\d{6,14}$/.test(wanted)) readPhone(wanted);
  renderSoon();
}

/** Returns the command that posts a body to this server. */
function commandText(route, body) {
  const { path, api, key } = document.body.dataset;
  const root = location.origin + (base.endsWith(`/${path}`) ? base.slice(0, -path.length - 1) : '');
  return [
    `curl ${root}/${api}/${route}`,
    `  -H 'X-Api-Key: ${key || texts.key}'`,
    "  -H 'Content-Type: application/json'",
    `  -d '${JSON.stringify(body)}'`,
  ].join(' \\\n');
}

function offerCopy(id, command) {
  const button = byId(id);
  // Browsers offer the clipboard only in secure contexts, which include localhost.
  button.hidden = !navigator.clipboard;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(byId(command).textContent);
    button.textContent = texts.copied;
  });
}

function offerDocs() {
  const { docs } = document.body.dataset;
  byId('docs').hidden = !docs;
  if (!docs) return;
  const link = element('a', '', texts.docs);
  link.href = docs;
  byId('docs').append(link);
}

/** Removes all messages after the user has confirmed it in the dialog. */
function offerClear() {
  const dialog = byId('clear-dialog');
  byId('clear').addEventListener('click', () => {
    byId('clear-says').textContent = '';
    dialog.showModal();
  });
  byId('clear-no').addEventListener('click', () => dialog.close());
  byId('clear-yes').addEventListener('click', async () => {
    if (await sendClear()) dialog.close();
    else byId('clear-says').textContent = texts.clearFailed;
  });
}

async function sendClear() {
  try {
    const answer = await fetch(`${base}/phones`, { method: 'DELETE' });
    if (!answer.ok) return false;
    phones.clear();
    byId('announce').textContent = texts.cleared;
    renderSoon();
    return true;
  } catch {
    return false;
  }
}

translatePage();
offerDocs();
offerClear();
byId('curl').textContent = commandText('send/sms', {
  ...{ signature: 'INFOS', content: texts.hello, number: ['22670000000'] },
});
offerCopy('copy', 'curl');
offerCopy('hooks-copy', 'hooks-curl');
byId('filter').addEventListener('input', (event) => filterBy(event.target.value));
function rereadAll() {
  if (document.hidden) return;
  reread();
  readSessions();
  readHooks();
}
document.addEventListener('visibilitychange', rereadAll);
setInterval(rereadAll, REREAD_MS);
rereadAll();
listen();
