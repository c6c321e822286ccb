/* The page's data: the newest phones and their newest messages, both bounded. */

const MOST_PHONES = 60;
const MOST_MESSAGES = 100;

/** By number: { number, messages (oldest first), unread, changed, card }. */
const phones = new Map();
/** When the newest known message was received; a message read again that is later arrived while the stream was down. */
let newest = '';
let wanted = '';

/** Whether 'a' was received after 'b'; within a millisecond the ids decide, which also sort by time. */
function isLater(a, b) {
  return a.receivedAt > b.receivedAt || (a.receivedAt === b.receivedAt && a.messageID > b.messageID);
}

function keyOf(message) {
  return `${message.channel} ${message.messageID}`;
}

/** Stores a message; returns whether it was new to the page. */
function takeIn(message, fresh) {
  const phone = phones.get(message.to) || { number: message.to, messages: [], unread: 0, changed: true, card: null };
  const key = keyOf(message);
  if (phone.messages.some((other) => keyOf(other) === key)) return false;
  let at = phone.messages.length;
  while (at > 0 && isLater(phone.messages[at - 1], message)) at -= 1;
  phone.messages.splice(at, 0, { ...message, fresh });
  while (phone.messages.length > MOST_MESSAGES) phone.messages.shift();
  if (fresh) phone.unread = Math.min(phone.unread + 1, phone.messages.length);
  phone.changed = true;
  phones.set(phone.number, phone);
  if (message.receivedAt > newest) newest = message.receivedAt;
  forgetOldest();
  return true;
}

function lastOf(phone) {
  return phone.messages[phone.messages.length - 1];
}

function forgetOldest() {
  while (phones.size > MOST_PHONES) {
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
