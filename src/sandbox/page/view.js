/* Draws the page's data. Everything that a sender wrote is inserted as text, never as markup. */

const byId = (id) => document.getElementById(id);
let waitsForFrame = false;

function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

/** Makes 'nodes' the children of 'parent' with as few moves as possible, so that selections and scroll positions survive. */
function arrange(parent, nodes) {
  const keep = new Set(nodes);
  for (const child of [...parent.children]) if (!keep.has(child)) child.remove();
  nodes.forEach((node, at) => {
    if (parent.children[at] !== node) parent.insertBefore(node, parent.children[at] || null);
  });
}

function renderSoon() {
  document.title = titleText();
  if (waitsForFrame) return;
  waitsForFrame = true;
  requestAnimationFrame(render);
}

function titleText() {
  let unread = 0;
  for (const phone of phones.values()) unread += phone.unread;
  return (unread > 0 ? `(${unread}) ` : '') + texts.title;
}

function render() {
  waitsForFrame = false;
  const shown = shownPhones();
  const focused = document.activeElement;
  for (const phone of shown) {
    if (!phone.card) phone.card = makeCard(phone);
    if (phone.changed) drawCard(phone);
    phone.changed = false;
  }
  arrange(
    byId('phones'),
    shown.map((phone) => phone.card.root),
  );
  for (const phone of shown) phone.card.screen.scrollTop = phone.card.scrollTop;
  // Moving a card removes the focus from inside it.
  if (focused && focused !== document.activeElement && document.contains(focused))
    focused.focus({ preventScroll: true });
  byId('empty').hidden = phones.size > 0 || wanted !== '';
  byId('none').hidden = shown.length > 0 || wanted === '';
  byId('none').textContent = texts.none(byId('filter').value.trim());
  byId('summary').textContent =
    shown.length === 0 ? '' : shown.length < MOST_PHONES ? texts.phones(shown.length) : texts.newest(shown.length);
}

function makeCard(phone) {
  const root = element('li');
  const card = element('article', 'phone');
  const head = element('header');
  const number = element('h2', '', `+${phone.number}`);
  const count = element('small');
  const unread = element('span', 'new');
  const screen = element('div', 'screen');
  const list = element('ol', 'messages');
  number.id = `phone-${phone.number}`;
  card.setAttribute('aria-labelledby', number.id);
  screen.tabIndex = 0;
  screen.setAttribute('role', 'group');
  screen.setAttribute('aria-label', texts.screen(`+${phone.number}`));
  number.append(count);
  head.append(number, unread);
  screen.append(list);
  card.append(head, screen);
  root.append(card);
  for (const sign of ['pointermove', 'pointerdown', 'focusin', 'keydown'])
    card.addEventListener(sign, () => markRead(phone));
  const made = { root, card, count, unread, screen, list, scrollTop: 0, nodes: new Map() };
  screen.addEventListener('scroll', () => {
    made.scrollTop = screen.scrollTop;
  });
  return made;
}

function drawCard(phone) {
  const card = phone.card;
  const atEnd = card.screen.scrollTop + card.screen.clientHeight >= card.screen.scrollHeight - 24;
  card.card.className = phone.unread > 0 ? 'phone unread' : 'phone';
  card.count.textContent = texts.messages(phone.messages.length);
  card.unread.textContent = texts.unread(phone.unread);
  card.unread.hidden = phone.unread === 0;
  arrange(card.list, messageNodes(phone));
  card.scrollTop = atEnd ? Number.MAX_SAFE_INTEGER : card.screen.scrollTop;
}

/** The list's items: messages, and a separator at the first message of each day other than today. */
function messageNodes(phone) {
  const known = phone.card.nodes;
  const nodes = new Map();
  const reuse = (key, make) => nodes.set(key, known.get(key) || make());
  let day = dayOf(new Date());
  for (const message of phone.messages) {
    const date = new Date(message.receivedAt);
    if (dayOf(date) !== day) {
      day = dayOf(date);
      reuse(day, () => element('li', 'day'));
      nodes.get(day).textContent = dayText(day);
    }
    reuse(keyOf(message), () => makeMessage(message, date));
    nodes.get(keyOf(message)).className = message.fresh ? 'message fresh' : 'message';
  }
  phone.card.nodes = nodes;
  return [...nodes.values()];
}

function makeMessage(message, date) {
  const item = element('li', 'message');
  const bubble = element('div', 'bubble');
  const foot = element('div', 'foot');
  const time = element('time', '', clockTime.format(date));
  time.setAttribute('datetime', message.receivedAt);
  time.title = fullTime.format(date);
  if (message.media) bubble.append(element('p', 'media', mediaText(message.media)));
  bubble.append(element('p', 'text', message.text || message.media?.caption || ''));
  foot.append(time, element('span', 'channel', message.channel === 'sms' ? 'SMS' : message.channel));
  item.append(element('span', 'from', message.from), bubble, foot);
  return item;
}

function mediaText(media) {
  return `${media.mimetype} · ${sizeText(media.size)}`;
}
