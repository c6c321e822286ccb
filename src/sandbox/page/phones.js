/* The page's data: the newest phones and their newest messages. Both have a limit. */

const MAX_PHONES = 60;
const MAX_MESSAGES = 100;

/** The phones by number: { number, text (the number as people read it), messages (oldest first), unread, changed, card }. */
const phones = new Map();
/** When the newest known message was received. If a read finds a later message, it arrived while the stream was down. */
let newest = '';
let wanted = '';

/** Whether 'a' was received after 'b'. Within a millisecond the ids decide, because they sort by time too. */
function isLater(a, b) {
  return a.receivedAt > b.receivedAt || (a.receivedAt === b.receivedAt && a.messageID > b.messageID);
}

function keyOf(message) {
  return `${message.channel} ${message.messageID}`;
}

/** Whether the phone has the message. */
function hasArrived(message) {
  return STATES[message.status].stage === 'reached';
}

/** Whether the state of a message may still change soon. */
function isPending(message) {
  const { stage } = STATES[message.status];
  return stage === 'waiting' || stage === 'handed over';
}

function anyPending() {
  return [...phones.values()].some((phone) => phone.messages.some(isPending));
}

/** Stores a message, or its new state. Returns whether it has arrived now. */
function takeIn(message, fresh) {
  const phone = phones.get(message.to) || {
    ...{ number: message.to, text: message.toText, messages: [], unread: 0, changed: true, card: null },
  };
  const key = keyOf(message);
  const at = phone.messages.findIndex((other) => keyOf(other) === key);
  const known = phone.messages[at];
  // An event comes before its price is known.
  const units = message.units ?? known?.units ?? null;
  const refundedUnits = message.refundedUnits ?? known?.refundedUnits ?? null;
  const taken = { ...message, units, refundedUnits };
  taken.version = JSON.stringify(taken);
  if (known?.version === taken.version) return false;
  const arrived = hasArrived(taken) && !(known && hasArrived(known));
  taken.fresh = known?.fresh || (fresh && arrived);
  if (known) phone.messages.splice(at, 1);
  insert(phone, taken);
  if (arrived && fresh) phone.unread = Math.min(phone.unread + 1, phone.messages.length);
  phone.changed = true;
  phones.set(phone.number, phone);
  if (message.receivedAt > newest) newest = message.receivedAt;
  forgetOldest();
  return arrived;
}

function insert(phone, message) {
  let at = phone.messages.length;
  while (at > 0 && isLater(phone.messages[at - 1], message)) at -= 1;
  phone.messages.splice(at, 0, message);
  while (phone.messages.length > MAX_MESSAGES) phone.messages.shift();
}

function lastOf(phone) {
  return phone.messages[phone.messages.length - 1];
}

function forgetOldest() {
  while (phones.size > MAX_PHONES) {
    let oldest;
    for (const phone of phones.values()) {
      if (phone.number !== wanted && (!oldest || isLater(lastOf(oldest), lastOf(phone)))) oldest = phone;
    }
    phones.delete(oldest.number);
  }
}

/** Returns the phones to show, the most recently active first. */
function shownPhones() {
  return [...phones.values()]
    .filter((phone) => phone.number.includes(wanted))
    .sort((a, b) => Number(isLater(lastOf(b), lastOf(a))) - Number(isLater(lastOf(a), lastOf(b))));
}

function markRead(phone) {
  if (phone.unread === 0) return;
  phone.unread = 0;
  for (const message of phone.messages) message.fresh = false;
  phone.changed = true;
  renderSoon();
}
