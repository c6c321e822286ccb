/* Makes the message bubbles. Everything that a sender wrote is inserted as text, never as markup. */

function messageClass(message) {
  return `message${message.fresh ? ' fresh' : ''}${hasArrived(message) ? '' : ' lost'}`;
}

function makeMessage(message, date) {
  const item = element('li', 'message');
  const bubble = element('div', 'bubble');
  const time = element('time', '', clockTime.format(date));
  const foot = element('div', 'foot');
  time.setAttribute('datetime', message.receivedAt);
  time.title = fullTime.format(date);
  if (message.quote) bubble.append(element('blockquote', 'quote', message.quote));
  if (message.media) bubble.append(...mediaNodes(message));
  bubble.append(element('p', 'text', message.text || message.media?.caption || ''));
  foot.append(time, element('span', 'channel', message.channel === 'sms' ? 'SMS' : message.channel));
  for (const cost of costTexts(message)) foot.append(element('span', 'cost', cost));
  item.append(element('span', 'from', message.fromText), bubble);
  if (!hasArrived(message)) item.append(element('p', 'reason', reasonText(message)));
  item.append(foot);
  return item;
}

function costTexts({ segments, units, refundedUnits }) {
  const parts = segments === null ? [] : [`${segments} SMS`];
  if (units === null) return parts;
  return [...parts, refundedUnits > 0 ? texts.refunded(refundedUnits) : texts.cost(units)];
}

/** Returns the status of a message that has not arrived, and the reason. */
function reasonText({ status, error }) {
  const unconfirmed = { sent: texts.noReceiptYet, unknown: texts.noReceipt }[status];
  const reason = texts.reasons[error] || error || unconfirmed;
  return reason ? texts.because(statusText(status), reason) : statusText(status);
}

function mediaNodes(message) {
  const { media } = message;
  const described = element('p', 'media');
  if (media.fileName) described.append(element('span', 'name', media.fileName), element('span', '', ' · '));
  if (media.type === 'voice') described.append(element('span', '', `${texts.voice('').trim()} · `));
  described.append(element('span', '', `${media.mimetype} · ${sizeText(media.size)}`));
  if (!hasArrived(message)) return [element('p', 'placeholder', texts.fileLost), described];
  if (!media.kept) return [element('p', 'placeholder', texts.fileGone), described];
  const address = `${base}/phones/${message.to}/messages/${encodeURIComponent(message.messageID)}/media`;
  if (media.player) return [player(media, address), described];
  const save = element('a', 'save', texts.save);
  save.href = address;
  save.download = media.fileName || '';
  save.setAttribute('aria-label', `${texts.save} ${media.fileName || ''}`);
  const row = element('div', 'file');
  row.append(described, save);
  return [row];
}

/** Makes a picture, or the controls of a sound or a video. If the browser cannot read the file, a placeholder replaces it. */
function player({ player, type, fileName }, address) {
  const name = fileName || '';
  const box = element('div', `player ${player}`);
  const shown = element(player === 'image' ? 'img' : player);
  if (player === 'image') {
    shown.alt = texts.picture(name).trim();
    shown.loading = 'lazy';
    shown.decoding = 'async';
  } else {
    shown.controls = true;
    shown.preload = 'metadata';
    const heard = type === 'voice' ? texts.voice(name) : texts.sound(name);
    shown.setAttribute('aria-label', (player === 'audio' ? heard : texts.video(name)).trim());
  }
  shown.addEventListener('error', () => {
    box.className = 'player';
    arrange(box, [element('p', 'placeholder', texts.fileBroken)]);
  });
  shown.src = address;
  box.append(shown);
  return box;
}
