import { describe, expect, test } from '@jest/globals';
import type { CodeView, ScreenMediaView, ScreenMessageView } from '../../../src/sandbox/sandbox.api.js';
import type { FakeElement } from '../../support/sandbox/fake-dom.js';
import { SandboxPageBrowser, sandboxHtml, sandboxScript } from '../../support/sandbox/sandbox-page-browser.js';

let count = 0;

const code = (fields: Partial<CodeView> = {}): CodeView => ({
  qr: 'sandbox:msgapp:1',
  image: 'data:image/png;base64,AAAA',
  channel: 'msgapp',
  sessionID: 's1',
  ...fields,
});

/** A message. Each one is a second later than the one before. */
function message(fields: Partial<ScreenMessageView> = {}): ScreenMessageView {
  count += 1;
  const { from = 'INFOS', to = '22670000000' } = fields;
  return {
    messageID: `m${count}`,
    channel: 'sms',
    from,
    fromText: from,
    to,
    toText: `+${to}`,
    status: 'delivered',
    error: null,
    segments: 1,
    units: 1,
    refundedUnits: 0,
    text: `Texte ${count}`,
    media: null,
    receivedAt: new Date(Date.UTC(2026, 10, 21, 10) + count * 1_000).toISOString(),
    ...fields,
  };
}

const file = (fields: Partial<ScreenMediaView> = {}): ScreenMediaView => ({
  type: 'image',
  mimetype: 'image/png',
  fileName: null,
  size: 7,
  sha256: 'ab',
  caption: null,
  player: 'image',
  kept: true,
  ...fields,
});

async function opened(latest: readonly ScreenMessageView[] = [], options = {}): Promise<SandboxPageBrowser> {
  const browser = new SandboxPageBrowser({ ...options, latest: [...latest].reverse() });
  await browser.settle();
  await browser.opened();
  return browser;
}

const numbersOf = (browser: SandboxPageBrowser) =>
  browser
    .get('phones')
    .all('phone')
    .map((card) => /^\+\d+/.exec(card.textContent)?.[0].slice(0, 12));

describe('the page’s source', () => {
  test('inserts nothing as markup and cannot end its own element', () => {
    expect(sandboxScript()).not.toMatch(/innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|Function\(/);
    expect(sandboxHtml().match(/<\/script>/g)).toHaveLength(1);
  });

  test('takes no path as markup', () => {
    expect(sandboxHtml({ path: '"><script>', apiPath: '<' })).toContain(
      'data-path="&#34;&#62;&#60;script&#62;" data-api="&#60;"',
    );
  });

  test('says in its script the same as without a script', async () => {
    const html = sandboxHtml();
    const written = [...html.matchAll(/ data-text="(\w+)"[^>]*>([^<]*)</g)].map(([, key, text]) => [key, text]);
    expect(written.length).toBeGreaterThan(10);
    expect((await opened()).fixedTexts()).toEqual(Object.fromEntries(written));
  });
});

describe('the page', () => {
  test('is in French for those who prefer it, and in English for all others', async () => {
    for (const [language, title, lang] of [
      ['fr-FR', 'Téléphones du bac à sable', 'fr'],
      ['fr', 'Téléphones du bac à sable', 'fr'],
      ['de', 'Sandbox phones', 'en'],
      ['frr', 'Sandbox phones', 'en'],
      ['', 'Sandbox phones', 'en'],
      ['en', 'Sandbox phones', 'en'],
      ['en-GB', 'Sandbox phones', 'en'],
    ]) {
      const browser = await opened([], { language });
      expect(browser.fixedTexts().title).toBe(title);
      expect(browser.document.documentElement.lang).toBe(lang);
      expect(Object.values(browser.fixedTexts())).not.toContain('undefined');
    }
  });

  test('shows how to send the first message until there is one', async () => {
    const browser = await opened([], { pathname: '/hote/sandbox/' });
    expect(browser.get('empty').hidden).toBe(false);
    expect(browser.get('curl').textContent).toBe(
      [
        'curl http://127.0.0.1:3000/hote/api/v1/send/sms \\',
        "  -H 'X-Api-Key: VOTRE_CLE' \\",
        "  -H 'Content-Type: application/json' \\",
        '  -d \'{"signature":"INFOS","content":"Bonjour du bac à sable","number":["22670000000"]}\'',
      ].join('\n'),
    );
    expect(browser.streams.map(({ url }) => url)).toEqual(['/hote/sandbox/events']);
    expect(browser.reads).toContain('/hote/sandbox/phones');
    await browser.receives(message());
    expect(browser.get('empty').hidden).toBe(true);
  });

  test('starts with the stored messages: newest phone first, oldest message first, nothing marked as new', async () => {
    const browser = await opened([
      message({ text: 'un', to: '22670000001' }),
      message({ text: 'deux', to: '22670000002' }),
      message({ text: 'trois\nlignes', to: '22670000001', channel: 'msgapp', from: '22670000009' }),
    ]);
    expect(numbersOf(browser)).toEqual(['+22670000001', '+22670000002']);
    const phones = browser.get('phones');
    expect(phones.texts('text')).toEqual(['un', 'trois\nlignes', 'deux']);
    expect(phones.texts('channel')).toEqual(['SMS', 'msgapp', 'SMS']);
    expect(phones.texts('from')).toEqual(['INFOS', '22670000009', 'INFOS']);
    expect([...phones.all('fresh'), ...phones.all('unread')]).toEqual([]);
    expect(browser.get('announce').textContent).toBe('');
    expect(browser.get('state').textContent).toBe('En direct');
  });

  test('marks an arriving message as new until somebody opens that phone', async () => {
    const browser = await opened([message({ to: '22670000001' }), message({ to: '22670000002' })]);
    await browser.receives(message({ to: '22670000001', text: 'nouveau' }));
    const phones = browser.get('phones');
    expect(numbersOf(browser)).toEqual(['+22670000001', '+22670000002']);
    expect(phones.all('unread').map((card) => card.texts('fresh').length)).toEqual([1]);
    expect(phones.all('new').map(({ hidden, textContent }) => (hidden ? '' : textContent))).toEqual(['1 nouveau', '']);
    expect(browser.document.title).toBe('(1) Téléphones du bac à sable');
    expect(browser.get('announce').textContent).toBe('Nouveau message de INFOS pour +22670000001');

    phones.all('phone')[0]?.fire('focusin');
    await browser.settle();
    expect([...phones.all('fresh'), ...phones.all('unread')]).toEqual([]);
    expect(browser.document.title).toBe('Téléphones du bac à sable');
  });

  test('shows whatever a sender writes as text', async () => {
    const evil = '<img src=x onerror="alert(1)"><script>alert(2)</script>';
    const browser = await opened([message({ text: evil })]);
    const media = file({ mimetype: evil, size: 48_213, caption: evil, player: null });
    await browser.receives(message({ from: evil, channel: evil, text: '', media }));
    const phones = browser.get('phones');
    expect(phones.texts('text')).toEqual([evil, evil]);
    expect(phones.texts('from')).toEqual(['INFOS', evil]);
    expect(phones.texts('channel')).toEqual(['SMS', evil]);
    expect(phones.texts('media')).toEqual([`${evil} · 48,2 ko`]);
  });

  test('shows a message once, however often it arrives', async () => {
    const first = message();
    const browser = await opened([first]);
    const second = message();
    browser.latest = [second, first];
    await browser.receives(first, second, second);
    await browser.opened();
    expect(browser.get('phones').texts('text')).toEqual([first.text, second.text]);
    expect(browser.get('phones').all('fresh')).toHaveLength(1);
  });

  test('distinguishes messages of one send to two phones, and equal ids of two channels', async () => {
    const one = message();
    const browser = await opened([one, { ...one, to: '22670000001' }, { ...one, channel: 'msgapp' }]);
    expect(browser.get('phones').all('message')).toHaveLength(3);
  });

  test('catches up after a broken stream, and marks those messages as new', async () => {
    const before = message();
    const browser = await opened([before]);
    browser.breaks(false);
    expect(browser.get('state').textContent).toBe('Reconnexion…');
    const missed = message();
    browser.latest = [missed, before];
    await browser.opened();
    expect(browser.get('state').textContent).toBe('En direct');
    expect(
      browser
        .get('phones')
        .all('fresh')
        .flatMap((fresh) => fresh.texts('text')),
    ).toEqual([missed.text]);
    expect(browser.streams).toHaveLength(1);
  });

  test('opens another stream if the browser has given up', async () => {
    const browser = await opened();
    browser.breaks(true);
    expect(browser.streams).toHaveLength(1);
    await browser.later();
    expect(browser.streams).toHaveLength(2);
    await browser.opened();
    await browser.receives(message());
    expect(browser.get('phones').all('message')).toHaveLength(1);
  });

  test('reads again from time to time, because another process may have delivered', async () => {
    const browser = await opened();
    browser.latest = undefined;
    await browser.later();
    browser.latest = [message()];
    await browser.later();
    expect(browser.get('phones').all('fresh')).toHaveLength(1);
  });

  test('greys out what did not arrive and gives the reason, and shows a late arrival once', async () => {
    const lost = message({ status: 'sending', error: 'sandbox: temporary error' });
    const browser = await opened([
      lost,
      message({ status: 'failed', error: 'sandbox: refused', refundedUnits: 1 }),
      message({ status: 'unknown' }),
      message({ status: 'undelivered', error: 'another carrier says so' }),
    ]);
    const phones = browser.get('phones');
    expect(phones.texts('reason')).toEqual([
      'En cours d’envoi : erreur passagère, nouvel essai',
      'Échoué : refusé par l’opérateur',
      'Inconnu : accepté par l’opérateur, jamais confirmé',
      'Non remis : another carrier says so',
    ]);
    expect(phones.all('lost')).toHaveLength(4);
    expect(phones.texts('cost')).toContain('1 unité remboursée');
    await browser.receives({ ...lost, status: 'delivered', error: null, units: null });
    expect([phones.all('message').length, phones.all('lost').length, phones.all('fresh').length]).toEqual([4, 3, 1]);
    expect(phones.all('fresh')[0]?.texts('cost')).toEqual(['1 SMS', '1 unité']);
  });

  test('reads again until the state of a delivery is known', async () => {
    const lost = message({ status: 'sent' });
    const browser = await opened([lost]);
    expect(browser.get('phones').texts('reason')).toEqual([
      'Envoyé : accepté par l’opérateur, sans confirmation pour l’instant',
    ]);
    browser.latest = [{ ...lost, status: 'unknown' }];
    await browser.later();
    expect(browser.get('phones').texts('reason')).toEqual(['Inconnu : accepté par l’opérateur, jamais confirmé']);
  });

  test.each([
    ['image', true, 'img', ''],
    ['audio', true, 'audio', ''],
    ['video', true, 'video', ''],
    [null, true, 'a', ''],
    ['image', false, undefined, 'Fichier effacé : les téléphones gardent les fichiers 7 jours.'],
  ] as const)('shows a file with the player %s, kept: %j', async (player, kept, name, placeholder) => {
    const media = file({ player, kept, fileName: '<b>.png' });
    const browser = await opened([message({ messageID: 'a/b', channel: 'msgapp', media })]);
    const phones = browser.get('phones');
    const shown = [...phones.all('player'), ...phones.all('file')].flatMap(({ children }) => children);
    const found = shown.find((each) => each.name === name);
    const address = '/sandbox/phones/22670000000/messages/a%2Fb/media';
    expect(found && (found.src || found.href)).toBe(name && address);
    expect(phones.texts('placeholder').join()).toBe(placeholder);
    expect(phones.texts('name')).toEqual(['<b>.png']);
  });

  test('says so if the browser cannot read a file', async () => {
    const browser = await opened([message({ media: file() })]);
    const [picture] = browser
      .get('phones')
      .all('player')
      .flatMap(({ children }) => children);
    picture?.fire('error');
    expect(browser.get('phones').texts('placeholder')).toEqual([expect.stringContaining('n’est pas lisible')]);
  });

  test('marks linked numbers', async () => {
    const browser = await opened([message({ to: '22670000001' }), message({ to: '22670000002' })]);
    const link = { number: '22670000001', numberText: '+226 70 00 00 01', sessionID: 's' };
    browser.links = [
      { ...link, channel: 'msgapp' },
      { ...link, channel: 'support' },
    ];
    await browser.shows();
    await browser.settle();
    expect(browser.get('links').hidden).toBe(false);
    expect(browser.get('phones').texts('linked')).toEqual(['', 'connecté à msgapp, support']);
  });

  test('asks before it removes everything, and says so if it cannot', async () => {
    const browser = await opened([message()]);
    browser.get('clear').fire('click');
    expect(browser.get('clear-dialog').open).toBe(true);
    browser.get('clear-no').fire('click');
    expect([browser.get('clear-dialog').open, browser.get('phones').all('phone').length]).toEqual([false, 1]);
    browser.get('clear').fire('click');
    const { latest } = browser;
    browser.latest = undefined;
    browser.get('clear-yes').fire('click');
    await browser.settle();
    expect([browser.get('clear-says').textContent, browser.get('clear-dialog').open]).toEqual([
      'Les téléphones n’ont pas pu être vidés, réessayez.',
      true,
    ]);
    browser.latest = latest;
    browser.get('clear-yes').fire('click');
    await browser.settle();
    expect([browser.get('clear-dialog').open, browser.get('phones').all('phone').length]).toEqual([false, 0]);
    expect(browser.get('empty').hidden).toBe(false);
  });

  test('keeps no more than the newest phones and messages', async () => {
    const browser = await opened();
    for (let at = 0; at < 300; at += 1) await browser.receives(message({ to: String(22_670_001_000 + at) }));
    expect(browser.get('phones').children).toHaveLength(60);
    expect(numbersOf(browser)[0]).toBe('+22670001299');
    expect(browser.get('summary').textContent).toBe('Les 60 téléphones les plus récents');
    const many = Array.from({ length: 300 }, () => message());
    await browser.receives(...many);
    const texts = many.map(({ text }) => text);
    expect(browser.get('phones').all('messages')[0]?.texts('text')).toEqual(texts.slice(-100));
  });

  test('filters by number, and finds a phone that is not among the newest', async () => {
    const browser = await opened([message({ to: '22670000001' }), message({ to: '33612345678' })]);
    await browser.types('+226 70');
    expect(numbersOf(browser)).toEqual(['+22670000001']);
    await browser.types('999');
    expect(numbersOf(browser)).toEqual([]);
    expect([browser.get('none').hidden, browser.get('none').textContent]).toEqual([
      false,
      'Aucun téléphone ne correspond à « 999 ».',
    ]);
    expect(browser.get('empty').hidden).toBe(true);

    browser.phones = { '22177000000': [message({ to: '22177000000', receivedAt: '2026-01-01T00:00:00.000Z' })] };
    await browser.types('221 77 00 00 00');
    expect(numbersOf(browser)).toEqual(['+22177000000']);
    expect(browser.get('phones').all('fresh')).toEqual([]);
    await browser.types('');
    expect(numbersOf(browser)).toHaveLength(3);
  });
});

describe('the codes on the page', () => {
  const list = (browser: SandboxPageBrowser) => browser.get('code-list');
  const partOf = (browser: SandboxPageBrowser, className: string, at = 0): FakeElement => {
    const found = list(browser).all(className)[at];
    if (!found) throw new Error(`no .${className}`);
    return found;
  };
  const inputOf = (browser: SandboxPageBrowser): FakeElement => {
    const [input] = partOf(browser, 'scan').children.flatMap(({ children }) => children);
    if (!input) throw new Error('no input');
    return input;
  };

  test('are shown while a session waits, and hidden otherwise', async () => {
    const browser = await opened();
    expect(browser.get('codes').hidden).toBe(true);
    await browser.shows(
      code(),
      code({ qr: 'q2', sessionID: 's2', channel: 'support', image: 'data:image/png;base64,BBBB' }),
    );
    expect(browser.get('codes').hidden).toBe(false);
    expect(
      list(browser)
        .all('qr')
        .map(({ src, alt }) => [src, alt]),
    ).toEqual([
      ['data:image/png;base64,AAAA', 'Code QR d’une session msgapp'],
      ['data:image/png;base64,BBBB', 'Code QR d’une session support'],
    ]);
    await browser.shows();
    expect([browser.get('codes').hidden, list(browser).children]).toEqual([true, []]);
  });

  test('are there at once if the page is opened late', async () => {
    const browser = new SandboxPageBrowser();
    browser.codes = [code()];
    await browser.opened();
    expect(list(browser).all('qr')).toHaveLength(1);
  });

  test('are scanned with a click, by the phone of the entered number', async () => {
    const browser = await opened();
    await browser.shows(code());
    expect(inputOf(browser).value).toBe('22670000100');
    partOf(browser, 'scan').fire('submit');
    await browser.settle();
    expect(browser.scans).toEqual([['22670000100', 'sandbox:msgapp:1']]);
    expect(browser.get('announce').textContent).toBe('+22670000100 est connecté à msgapp');
    await browser.settle();
    expect(browser.get('codes').hidden).toBe(true);
  });

  test('may change while a number is being typed', async () => {
    const browser = await opened();
    await browser.shows(code());
    inputOf(browser).value = '+226 70 00 00 55';
    await browser.shows(code({ qr: 'sandbox:msgapp:2', image: 'data:image/png;base64,CCCC' }));
    expect(
      list(browser)
        .all('qr')
        .map(({ src }) => src),
    ).toEqual(['data:image/png;base64,CCCC']);
    partOf(browser, 'scan').fire('submit');
    await browser.settle();
    expect(browser.scans).toEqual([['22670000055', 'sandbox:msgapp:2']]);
  });

  test.each<[string, string, Partial<Pick<SandboxPageBrowser, 'codes' | 'latest'>>, string]>([
    ['a malformed number', '12', {}, 'Un numéro international, en chiffres.'],
    ['a code that no longer exists', '22670000001', { codes: [] }, 'Ce code n’est plus affiché.'],
    ['an unavailable server', '22670000001', { latest: undefined }, 'Le téléphone ne répond pas, réessayez.'],
  ])('explain the error: %s', async (_, number, trouble, sentence) => {
    const browser = await opened();
    await browser.shows(code());
    const [says, button] = [partOf(browser, 'says'), partOf(browser, 'copy')];
    inputOf(browser).value = number;
    Object.assign(browser, trouble);
    partOf(browser, 'scan').fire('submit');
    await browser.settle();
    expect([says.textContent, button.disabled]).toEqual([sentence, false]);
  });

  test('show names from the server as text', async () => {
    const browser = await opened();
    await browser.shows(code({ channel: '<b>x</b>' }));
    expect(partOf(browser, 'scan').textContent).toContain('<b>x</b>');
  });

  test('do not reappear if a late answer arrives', async () => {
    const browser = await opened();
    let answer = (): void => {};
    browser.delay = new Promise((resolve) => {
      answer = resolve;
    });
    await browser.shows(code());
    await browser.shows();
    answer();
    await browser.settle();
    expect(browser.get('codes').hidden).toBe(true);
  });
});
