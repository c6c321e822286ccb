import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Locator, Page } from 'playwright-core';
import { MessagingEvents } from '../../../src/events/messaging-events.js';
import { MediaStore } from '../../../src/media/media-store.js';
import { type PhoneDelivery, PhoneStore } from '../../../src/sandbox/phones/phone-store.js';
import { SandboxModule } from '../../../src/sandbox/sandbox.module.js';
import { until } from '../../support/common/until.js';
import {
  accessibilityFaults,
  FORMS,
  HOSTILE,
  hasBrowser,
  openPage,
  startBrowser,
} from '../../support/dashboard/page-browser.js';
import { ApiClient } from '../../support/http/api-client.js';
import { type MessagingApp, startMessaging } from '../../support/mounting/messaging-app.js';
import { MSGAPP, MsgappClient } from '../../support/msgapp/msgapp-app.js';

const SENDER = '22670000100';
const LONG = 'x'.repeat(100_000);
const suite = hasBrowser() ? describe : describe.skip;

suite('the page of the sandbox in a browser', () => {
  let browser: Browser;
  let app: MessagingApp;
  let key: string | undefined;

  beforeAll(async () => {
    browser = await startBrowser();
    app = await startMessaging(
      'express',
      { msgapp: MSGAPP, media: { allow: 'loopback' } },
      { imports: [SandboxModule.forRoot({ docs: '/docs', apiKey: () => key })] },
    );
    key = app.key;
  });

  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  const open = async (width = 1280, colorScheme: 'light' | 'dark' = 'light', locale = 'en') => {
    const viewport = { width, height: 800 };
    return openPage(browser, `${app.url}/sandbox`, { viewport, colorScheme, locale, reducedMotion: 'reduce' });
  };
  const card = (page: Page, number: string): Locator =>
    page.locator('.phone').filter({ has: page.locator('h2', { hasText: number }) });
  const sms = (number: string, content: string) =>
    new ApiClient(`${app.url}/api/v1`, app.accountId, app.key).post('send/sms', {
      signature: 'INFOS',
      content,
      number: [number],
    });

  test('before the first message offers a command that works, and links to the document', async () => {
    const { page, problems } = await open();
    await page.locator('#empty').waitFor();
    expect(await page.locator('#curl').textContent()).toContain(`X-Api-Key: ${app.key}`);
    expect(await page.getByRole('link', { name: 'API documentation' }).getAttribute('href')).toBe('/docs');
    expect(await page.locator('#clear').isVisible()).toBe(false);
    expect([await accessibilityFaults(page), problems]).toEqual([[], []]);
    await page.context().close();
  });

  test('lets a phone answer the sender of its last message, by SMS and by the app, wide and narrow', async () => {
    const client = new MsgappClient(new ApiClient(`${app.url}/api/v1`, app.accountId, app.key), app.url);
    const linked = '22670000200';
    const heard: string[] = [];
    const events = app.app.get(MessagingEvents, { strict: false });
    const stops = [
      events.on('sms.received', ({ data }) => void heard.push(`${data.from} to ${data.to}: ${data.text}`)),
      events.on('msgapp.received', ({ data }) => void heard.push(`${data.from}: ${data.text}`)),
    ];
    await client.link(linked);
    await client.text({ to: '22670000202', body: 'Bonjour' });
    for (const [width, number, words] of [
      [1280, '22670000201', 'STOP'],
      [360, '22670000203', 'Merci'],
    ] as const) {
      await sms(number, 'Your parcel is here');
      const { page, problems } = await open(width);
      const field = card(page, `02 ${number.slice(-2)}`).getByRole('textbox', { name: 'Reply to INFOS' });
      await field.fill(words);
      await field.press('Enter');
      await card(page, `02 ${number.slice(-2)}`)
        .getByText('Sent', { exact: true })
        .waitFor();
      expect(await field.inputValue()).toBe('');
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/reply-${width}.png` });
      expect([await accessibilityFaults(page), problems]).toEqual([[], []]);
      await page.context().close();
    }
    const { page } = await open();
    const onApp = card(page, '02 02').getByRole('textbox', { name: /^Reply to/ });
    await onApp.fill('Bien reçu');
    await card(page, '02 02').getByRole('button', { name: 'Send' }).click();
    await card(page, '02 02').getByText('Sent', { exact: true }).waitFor();
    await page.context().close();
    for (const stop of stops) stop();
    expect(heard).toEqual(['22670000201 to INFOS: STOP', '22670000203 to INFOS: Merci', '22670000202: Bien reçu']);
    expect((await sms('22670000201', 'Again')).body).toMatchObject({ sms_units: 0 });
    await fetch(`${app.url}/sandbox/phones`, { method: 'DELETE' });
    await client.logout((await client.sessions())[0]?.sessionID ?? '');
  });

  describe('with messages', () => {
    beforeAll(async () => {
      const api = new ApiClient(`${app.url}/api/v1`, app.accountId, app.key);
      const client = new MsgappClient(api, app.url);
      await client.link(SENDER);
      await client.connect();
      for (const end of ['1', '2', '3', '4']) await sms(`2267099000${end}`, `To the number that ends in ${end}`);
      await sms('22670000010', 'ê'.repeat(71));
      await sms('22670000011', `${HOSTILE} مرحبا 👩🏽‍💻`);
      for (const [number, name] of [
        ['22670000020', 'photo.jpg'],
        ['22670000021', 'voice.ogg'],
        ['22670000022', 'clip.mp4'],
        ['22670000023', 'document.pdf'],
      ]) {
        await client.media({ to: number, mediaUrl: `${app.url}/sandbox/media/${name}`, caption: `This is ${name}` });
        await client.arrived(number ?? '', 1);
      }
      await client.text({ to: SENDER, body: 'To the linked number' });
      await client.arrived(SENDER, 1);
      await client.arrived('22670990002', 1);
      await received(app, [
        rubbish('22670000030', { text: LONG }),
        rubbish('22670000031', { fileName: HOSTILE, caption: LONG }, '<html><script>window.hacked = 1</script>'),
        rubbish(
          '22670000032',
          { fileName: '\u202Egpj.exe', mimetype: 'image/svg+xml' },
          '<svg onload="window.hacked=1"/>',
        ),
        rubbish('22670000033', { fileName: 'gone.png' }),
      ]);
    });

    test.each(FORMS)('is completely visible and has no fault, %i pixels wide and %s', async (width, scheme) => {
      const { page, problems } = await open(width, scheme);
      await page.locator('.links .link').waitFor();
      await expectLoaded(page);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      expect(await accessibilityFaults(page)).toEqual([]);
      await page.locator('#clear').click();
      expect([await accessibilityFaults(page), problems]).toEqual([[], []]);
      await page.context().close();
    });

    test('shows pictures, plays sound and video, and lets other files be saved', async () => {
      const { page } = await open();
      await expectLoaded(page);
      const picture = card(page, '+226 70 00 00 20').locator('img');
      expect(await picture.evaluate((image: { naturalWidth: number }) => image.naturalWidth)).toBe(320);
      expect(await picture.getAttribute('alt')).toBe('Picture photo.jpg');
      for (const [number, name] of [
        ['21', 'audio'],
        ['22', 'video'],
      ]) {
        const player = card(page, `+226 70 00 00 ${number}`).locator(name ?? '');
        await player.evaluate(async (media: Playable) => {
          media.muted = true;
          media.currentTime = 1;
          await media.play();
        });
        await until(() => page.evaluate<boolean>(`document.querySelector('${name}').currentTime > 1`));
      }
      const [saved] = await Promise.all([
        page.waitForEvent('download'),
        card(page, '+226 70 00 00 23').getByRole('link', { name: 'Save document.pdf' }).click(),
      ]);
      expect(saved.suggestedFilename()).toBe('document.pdf');
      await page.context().close();
    });

    test('greys out what did not arrive and gives the reason, and shows a late arrival once', async () => {
      const { page } = await open();
      const reasonAt = (end: string) => card(page, `+226 70 99 00 0${end}`).locator('.lost .reason').textContent();
      expect(await reasonAt('1')).toBe('Failed: refused by the carrier');
      expect(await reasonAt('4')).toBe('Undelivered: the phone was not reached');
      await page.getByText('Unknown: accepted by the carrier, never confirmed').waitFor();
      const late = card(page, '+226 70 99 00 02');
      expect([await late.locator('.message').count(), await late.locator('.lost').count()]).toEqual([1, 0]);
      const foot = (number: string) => card(page, number).locator('.cost').allTextContents();
      expect(await foot('+226 70 00 00 10')).toEqual(['2 SMS', '2 units']);
      expect(await foot('+226 70 99 00 01')).toEqual(['1 SMS', '1 unit refunded']);
      expect(await card(page, '+226 70 00 01 00').locator('.linked').textContent()).toBe('linked to msgapp');
      await page.context().close();
    });

    test('shows everything that was sent as text, and says so if a file is not a picture', async () => {
      const { page, problems } = await open();
      await expectLoaded(page);
      expect(await card(page, '+226 70 00 00 11').locator('.text').textContent()).toBe(`${HOSTILE} مرحبا 👩🏽‍💻`);
      const noPicture = card(page, '+226 70 00 00 31');
      expect(await noPicture.locator('.placeholder').textContent()).toContain('This file cannot be read');
      expect(await noPicture.locator('.name').textContent()).toBe(HOSTILE);
      expect(await card(page, '+226 70 00 00 32').locator('img, object, embed, svg').count()).toBe(0);
      expect(await card(page, '+226 70 00 00 33').locator('.placeholder').textContent()).toContain('File removed');
      expect(await page.evaluate("'hacked' in window")).toBe(false);
      expect(problems).toEqual([]);
      await page.context().close();
    });

    test('makes a card as high as its text, and lets a long one scroll', async () => {
      const { page } = await open();
      const heights = async (number: string) => ({
        card: (await card(page, number).boundingBox())?.height ?? 0,
        ...(await card(page, number)
          .locator('.screen')
          .evaluate(({ scrollHeight, clientHeight }) => ({ hidden: scrollHeight - clientHeight }))),
      });
      await expectLoaded(page);
      const short = await heights('+226 70 00 01 00');
      expect([short.hidden, short.card < 250]).toEqual([0, true]);
      const long = await heights('+226 70 00 00 30');
      expect([long.hidden > 5_000, long.card <= 0.85 * 800]).toEqual([true, true]);
      await page.context().close();
    });

    test('shows a message at once, in the language of the browser', async () => {
      const { page } = await open(1280, 'light', 'fr-CA');
      await page.locator('#state[data-state=live]').waitFor();
      await sms('33612345678', 'Bonjour !');
      const arrived = card(page, '+33 6 12 34 56 78');
      await arrived.locator('.fresh').waitFor();
      await arrived.getByText('3 unités').waitFor();
      expect(await page.locator('html').getAttribute('lang')).toBe('fr');
      await page.context().close();
    });

    test('removes everything after a question, on every open page', async () => {
      const [{ page, problems }, { page: other }] = [await open(), await open()];
      await other.locator('#state[data-state=live]').waitFor();
      await page.locator('#clear').click();
      await page.getByRole('button', { name: 'Cancel' }).click();
      expect(await page.locator('.phone').count()).toBeGreaterThan(5);
      await page.locator('#clear').click();
      await page.getByRole('button', { name: 'Remove', exact: true }).click();
      for (const each of [page, other]) await each.locator('#empty').waitFor();
      expect(await page.locator('.phone').count()).toBe(0);
      expect(await app.app.get(PhoneStore, { strict: false }).latest(10)).toEqual([]);
      expect(problems).toEqual([]);
      await page.context().close();
      await other.context().close();
    });
  });
});

/** Waits until the page shows every message, and every picture, sound and video of these. */
async function expectLoaded(page: Page): Promise<void> {
  await page.locator('.phone').nth(14).waitFor();
  // Pictures are loaded when they are scrolled to.
  const loaded = `(() => {
    const players = [...document.querySelectorAll('.player img, .player audio, .player video')];
    const next = players.find((each) => !each.complete && !each.readyState);
    next?.scrollIntoView();
    return next === undefined;
  })()`;
  await until(() => page.evaluate<boolean>(loaded));
  await page.locator('.placeholder', { hasText: 'cannot be read' }).waitFor();
}

/** The properties of a sound or a video that a test uses. */
interface Playable {
  muted: boolean;
  currentTime: number;
  play(): Promise<void>;
}

interface Rubbish {
  readonly message: PhoneDelivery;
  readonly bytes: string | undefined;
}

/** A message as a hostile sender might write it. */
function rubbish(
  to: string,
  { text = '', ...media }: { text?: string; fileName?: string; caption?: string; mimetype?: string },
  bytes?: string,
): Rubbish {
  const file = {
    type: 'image' as const,
    mimetype: 'image/png',
    size: bytes?.length ?? 7,
    sha256: 'ab',
    caption: undefined,
  };
  return {
    bytes,
    message: {
      messageId: `rubbish-${to}`,
      channel: 'msgapp',
      from: SENDER,
      to,
      text,
      receivedAt: Date.now(),
      media: text === '' ? { ...file, ...media } : undefined,
    },
  };
}

/** Makes phones receive what the API itself would refuse. */
async function received({ app }: MessagingApp, rubbish: readonly Rubbish[]): Promise<void> {
  const [phones, media] = [app.get(PhoneStore, { strict: false }), app.get(MediaStore, { strict: false })];
  for (const { message, bytes } of rubbish) {
    const fileId = `file-${message.messageId}`;
    if (bytes !== undefined) {
      const chunks = async function* () {
        yield Buffer.from(bytes);
      };
      await media.write(fileId, chunks(), message.receivedAt);
    }
    await phones.receive([{ ...message, fileId }]);
  }
}
