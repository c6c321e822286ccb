/* Shows the codes that wait to be scanned, scans them with the phone of any number, and shows the linked numbers. */

/**
 * The cards by session id: { qr, image, says, root }. A card stays when its code changes, so that a half-typed number is not
 * lost.
 */
const codeCards = new Map();
let offered = 0;
let codeReads = 0;

async function readCodes() {
  const turn = ++codeReads;
  try {
    const codes = await read('/codes');
    // If a later answer came first, this one is outdated and is ignored.
    if (turn === codeReads) drawCodes(codes);
  } catch {
    // The error is ignored, because the next event or the next interval reads again.
  }
}

function drawCodes(codes) {
  const cards = codes.map((code) => {
    const card = codeCards.get(code.sessionID) || makeCodeCard(code);
    codeCards.set(code.sessionID, card);
    card.qr = code.qr;
    card.image.src = code.image;
    return card;
  });
  for (const [id, card] of codeCards) if (!cards.includes(card)) codeCards.delete(id);
  arrange(
    byId('code-list'),
    cards.map((card) => card.root),
  );
  byId('codes').hidden = cards.length === 0;
}

function makeCodeCard(code) {
  const root = element('li', 'code card');
  const image = element('img', 'qr');
  const form = element('form', 'scan');
  const label = element('label', '', texts.scanAs);
  const number = element('input');
  const button = element('button', 'copy', texts.scan);
  const says = element('p', 'says');
  const card = { qr: code.qr, channel: code.channel, root, image, number, button, says };
  image.alt = texts.qr(code.channel);
  number.type = 'text';
  number.inputMode = 'tel';
  number.autocomplete = 'off';
  // Each card gets a different number in advance, so that one click scans.
  number.value = String(22670000100 + (offered++ % 100));
  button.type = 'submit';
  says.setAttribute('role', 'status');
  label.append(number);
  form.append(element('h3', '', code.channel), label, button, says);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    scan(card);
  });
  root.append(image, form);
  return card;
}

async function scan(card) {
  const number = card.number.value.replace(/\D/g, '');
  if (!/^[1-9]\d{6,14}$/.test(number)) {
    card.says.textContent = texts.scanNumber;
    return;
  }
  card.button.disabled = true;
  card.says.textContent = '';
  const outcome = await sendScan(number, card.qr);
  card.button.disabled = false;
  if (outcome === 'linked') byId('announce').textContent = texts.linked(`+${number}`, card.channel);
  else card.says.textContent = texts[outcome];
  readSessions();
}

async function sendScan(number, qr) {
  try {
    const answer = await fetch(`${base}/phones/${number}/scan`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ qr }),
    });
    return answer.ok ? 'linked' : answer.status === 404 ? 'scanGone' : 'scanFailed';
  } catch {
    return 'scanFailed';
  }
}

/** The sessions by number. They say which channels a number is linked to. */
let links = new Map();
let linkReads = 0;

async function readLinks() {
  const turn = ++linkReads;
  try {
    const linked = await read('/links');
    if (turn === linkReads) drawLinks(linked);
  } catch {
    // The error is ignored, as above.
  }
}

function drawLinks(linked) {
  const before = JSON.stringify([...links]);
  links = new Map();
  for (const { number, channel } of linked) links.set(number, [...new Set([...(links.get(number) || []), channel])]);
  if (JSON.stringify([...links]) === before) return;
  byId('links').hidden = linked.length === 0;
  arrange(
    byId('link-list'),
    linked.map(({ numberText, channel }) => {
      const item = element('li', 'link');
      item.append(element('span', 'link-number', numberText), element('span', 'channel', channel));
      return item;
    }),
  );
  for (const phone of phones.values()) phone.changed = true;
  renderSoon();
}

/** Returns a text with the channels that a number is linked to. It is empty if there are none. */
function linkedTo(number) {
  const channels = links.get(number);
  return channels ? texts.isLinked(channels.join(', ')) : '';
}

function readSessions() {
  readCodes();
  readLinks();
}
