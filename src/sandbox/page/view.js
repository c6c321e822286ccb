/* Draws the page's data. Everything that a sender wrote is inserted as text, never as markup. */

/** The page's own path without a trailing slash. The host may have put a prefix before it. */
const base = location.pathname.replace(/\/+$/, '');
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
  byId('clear').hidden = phones.size === 0;
  byId('summary').textContent =
    shown.length === 0 ? '' : shown.length < MAX_PHONES ? texts.phones(shown.length) : texts.newest(shown.length);
}

function makeCard(phone) {
  const root = element('li');
  const card = element('article', 'phone');
  const head = element('header');
  const number = element('h2', '', phone.text);
  const about = element('small');
  const count = element('span');
  const linked = element('span', 'linked');
  const unread = element('span', 'new');
  const screen = element('div', 'screen');
  const list = element('ol', 'messages');
  number.id = `phone-${phone.number}`;
  card.setAttribute('aria-labelledby', number.id);
  screen.tabIndex = 0;
  screen.setAttribute('role', 'group');
  screen.setAttribute('aria-label', texts.screen(phone.text));
  about.append(count, linked);
  number.append(about);
  head.append(number, unread);
  screen.append(list);
  const reply = makeReply(phone);
  card.append(head, screen, reply.form);
  root.append(card);
  for (const sign of ['pointermove', 'pointerdown', 'focusin', 'keydown'])
    card.addEventListener(sign, () => markRead(phone));
  heights.observe(card);
  const made = { root, card, count, linked, unread, screen, list, reply, scrollTop: 0, nodes: new Map() };
  screen.addEventListener('scroll', () => {
    made.scrollTop = screen.scrollTop;
  });
  // A picture gets its height only now, and 'load' does not bubble.
  for (const loaded of ['load', 'loadedmetadata']) screen.addEventListener(loaded, () => keepAtEnd(made), true);
  return made;
}

function drawCard(phone) {
  const card = phone.card;
  const atEnd = card.screen.scrollTop + card.screen.clientHeight >= card.screen.scrollHeight - 24;
  card.card.className = phone.unread > 0 ? 'phone unread' : 'phone';
  card.count.textContent = texts.messages(phone.messages.length);
  card.unread.textContent = texts.unread(phone.unread);
  card.unread.hidden = phone.unread === 0;
  card.linked.textContent = linkedTo(phone.number);
  card.linked.hidden = card.linked.textContent === '';
  drawReply(card.reply, phone);
  arrange(card.list, messageNodes(phone));
  card.atEnd = atEnd;
  card.scrollTop = atEnd ? Number.MAX_SAFE_INTEGER : card.screen.scrollTop;
}

/** Makes each card span as many of the grid's low rows as its height needs, so that a high card does not stretch a whole row. */
const heights = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const item = target.parentElement;
    const list = getComputedStyle(byId('phones'));
    const space = parseFloat(getComputedStyle(item).paddingBottom);
    item.style.gridRowEnd = `span ${Math.ceil((target.offsetHeight + space) / parseFloat(list.gridAutoRows))}`;
  }
});

function keepAtEnd(card) {
  if (card.atEnd) card.screen.scrollTop = Number.MAX_SAFE_INTEGER;
}

/** Returns the list's items: messages, and a separator at the first message of each day other than today. */
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
    reuse(message.version, () => makeMessage(message, date));
    nodes.get(message.version).className = messageClass(message);
  }
  phone.card.nodes = nodes;
  return [...nodes.values()];
}
