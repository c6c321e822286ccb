/* Shows the webhook calls in the sandbox's inboxes, and whether their signatures are valid. */

/** The shown inbox, and the nodes of its calls by their numbers. They are kept, so that an open body stays open. */
let hookName = '';
let hookNodes = new Map();
let hookReads = 0;

async function readHooks() {
  const turn = ++hookReads;
  try {
    const { url, names } = await read('/hooks');
    const name = names.includes(hookName) ? hookName : names[0] || '';
    const calls = name === '' ? [] : await read(`/hooks/${name}`);
    if (turn === hookReads) drawHooks(url, names, name, calls);
  } catch {
    // The error is ignored, because the next event or the next interval reads again.
  }
}

function drawHooks(url, names, name, calls) {
  if (name !== hookName) hookNodes = new Map();
  hookName = name;
  byId('hooks').hidden = url === null && names.length === 0;
  byId('hooks-first').hidden = url === null || names.length > 0;
  byId('hooks-curl').textContent = commandText('webhooks', { url: `${url}test` });
  arrange(byId('hook-names'), names.map(hookButton));
  const nodes = new Map();
  for (const call of calls) nodes.set(call.number, hookNodes.get(call.number) || makeHookCall(call));
  hookNodes = nodes;
  arrange(byId('hook-calls'), [...nodes.values()]);
}

function hookButton(name) {
  const known = [...byId('hook-names').children].find((child) => child.textContent === name);
  const button = known || element('button', 'quiet', name);
  button.setAttribute('aria-pressed', String(name === hookName));
  if (known) return known;
  button.type = 'button';
  button.addEventListener('click', () => {
    hookName = name;
    readHooks();
  });
  return button;
}

function makeHookCall({ receivedAt, events, verified, body }) {
  const item = element('li', 'hook-call');
  const head = element('div', 'hook-head');
  const date = new Date(receivedAt);
  const time = element('time', '', clockTime.format(date));
  const sign = verified === null ? 'unknown' : verified ? 'holds' : 'fails';
  const whole = element('details');
  time.setAttribute('datetime', receivedAt);
  time.title = fullTime.format(date);
  head.append(
    element('strong', 'hook-what', hookTitle(events)),
    element('span', `hook-sign ${sign}`, texts.hookSigns[sign]),
    time,
  );
  whole.append(element('summary', '', texts.hookBody), element('pre', 'hook-body', prettyBody(body)));
  item.append(head, whole);
  return item;
}

/**
 * Returns the title of a call. Example: `message.delivered · n° 4711`. For several events it has their count and their first and
 * last numbers.
 */
function hookTitle(events) {
  if (events.length === 0) return texts.hookOther;
  const numbers = events.flatMap(({ sequence }) => (sequence === null ? [] : [sequence]));
  const what = events.length === 1 ? events[0].type : texts.hookEvents(events.length);
  if (numbers.length === 0) return what;
  const [first, last] = [numbers[0], numbers[numbers.length - 1]];
  return `${what} · ${texts.hookNumber(first === last ? first : `${first}–${last}`)}`;
}

function prettyBody(body) {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
