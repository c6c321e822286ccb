import { setImmediate } from 'node:timers/promises';
import { createContext, Script } from 'node:vm';
import type { CodeView, LinkView, ScreenMessageView } from '../../../src/sandbox/sandbox.api.js';
import { SandboxPage } from '../../../src/sandbox/sandbox-page.js';
import { FakeElement } from './fake-dom.js';

export const sandboxHtml = (place = { path: 'sandbox', apiPath: 'api/v1' }): string =>
  new SandboxPage(place).html(false);

export const sandboxScript = (): string => /<script>([\s\S]*)<\/script>/.exec(sandboxHtml())?.[1] ?? '';

/** The object that the page uses as an EventSource. */
class FakeEventSource {
  onopen = (): void => {};
  onmessage = (_: { data: string }): void => {};
  onerror = (): void => {};
  readyState = 0;
  readonly listeners = new Map<string, () => void>();

  constructor(readonly url: string) {}

  addEventListener(type: string, listener: () => void): void {
    this.listeners.set(type, listener);
  }
}

interface BrowserOptions {
  readonly language?: string;
  readonly pathname?: string;
  readonly latest?: readonly ScreenMessageView[];
}

/** Opens the sandbox's page with its real script, in a browser that the test simulates. */
export class SandboxPageBrowser {
  readonly streams: FakeEventSource[] = [];
  readonly reads: string[] = [];
  readonly document: {
    title: string;
    hidden: boolean;
    readonly documentElement: FakeElement;
    readonly body: FakeElement;
  };
  /** The messages that the server has, newest first; undefined while it is unavailable. */
  latest: readonly ScreenMessageView[] | undefined;
  phones: Readonly<Record<string, readonly ScreenMessageView[]>> = {};
  /** The codes that the server shows. */
  codes: readonly CodeView[] = [];
  /** The numbers that the server has linked. */
  links: readonly LinkView[] = [];
  /** The scans that the page requested: number and code. */
  readonly scans: [number: string, qr: string][] = [];
  /** The promise for which the next answer's body waits. */
  delay: Promise<void> | undefined;
  private readonly ids = new Map<string, FakeElement>();
  private readonly translated: FakeElement[] = [];
  private readonly onDocument = new Map<string, () => void>();
  private frame: (() => void) | undefined;
  private timers: (() => void)[] = [];

  constructor({ language = 'fr-FR', pathname = '/sandbox', latest = [] }: BrowserOptions = {}) {
    this.latest = latest;
    const html = sandboxHtml();
    const body = new FakeElement('page');
    body.dataset.path = 'sandbox';
    body.dataset.api = 'api/v1';
    for (const [, id = ''] of html.matchAll(/ id="([\w-]+)"/g)) this.ids.set(id, new FakeElement('div'));
    for (const [, key = ''] of html.matchAll(/ data-text="(\w+)"/g)) {
      const element = new FakeElement('p');
      element.dataset.text = key;
      this.translated.push(element);
    }
    this.document = { title: '', hidden: false, documentElement: new FakeElement('page'), body };
    this.run(language, pathname);
  }

  /** The element of that id, which the page must have. */
  get(id: string): FakeElement {
    const element = this.ids.get(id);
    if (!element) throw new Error(`no #${id}`);
    return element;
  }

  /** The page's fixed texts by their key. */
  fixedTexts(): Record<string, string> {
    return Object.fromEntries(this.translated.map((element) => [element.dataset.text, element.textContent]));
  }

  /** Lets answers arrive, then draws. */
  async settle(): Promise<void> {
    await setImmediate();
    const draw = this.frame;
    this.frame = undefined;
    draw?.();
  }

  /** Opens the newest stream. */
  async opened(): Promise<void> {
    this.streams.at(-1)?.onopen();
    await this.settle();
  }

  /** Sends messages on the newest stream. */
  async receives(...messages: ScreenMessageView[]): Promise<void> {
    for (const message of messages) this.streams.at(-1)?.onmessage({ data: JSON.stringify(message) });
    await this.settle();
  }

  /** Shows other codes, and announces that on the newest stream. */
  async shows(...codes: CodeView[]): Promise<void> {
    this.codes = codes;
    this.streams.at(-1)?.listeners.get('codes')?.();
    await this.settle();
  }

  /** Breaks the newest stream. With `forGood` the browser will not try again. */
  breaks(forGood: boolean): void {
    const stream = this.streams.at(-1);
    if (!stream) return;
    stream.readyState = forGood ? 2 : 0;
    stream.onerror();
  }

  /** Runs everything that waits for time to pass. */
  async later(): Promise<void> {
    const due = this.timers;
    this.timers = [];
    for (const task of due) task();
    await this.settle();
  }

  async types(filter: string): Promise<void> {
    this.get('filter').value = filter;
    this.get('filter').fire('input');
    await this.settle();
  }

  private run(language: string, pathname: string): void {
    const browser = this;
    const context = createContext({
      document: Object.assign(this.document, {
        activeElement: null,
        getElementById: (id: string) => this.get(id),
        createElement: (name: string) => new FakeElement(name),
        querySelectorAll: () => this.translated,
        addEventListener: (type: string, listener: () => void) => this.onDocument.set(type, listener),
        contains: () => false,
      }),
      navigator: { language },
      location: { pathname, origin: 'http://127.0.0.1:3000' },
      requestAnimationFrame: (draw: () => void) => {
        this.frame = draw;
      },
      setTimeout: (task: () => void) => this.timers.push(task),
      setInterval: (task: () => void) => {
        const again = () => {
          task();
          this.timers.push(again);
        };
        this.timers.push(again);
      },
      fetch: async (url: string, { body, method }: { body?: string; method?: string }) => {
        if (method === 'DELETE') this.latest = this.latest && [];
        return this.answer(url, pathname.replace(/\/+$/, ''), body);
      },
      ResizeObserver: class {
        observe(): void {}
      },
      EventSource: class extends FakeEventSource {
        constructor(url: string) {
          super(url);
          browser.streams.push(this);
        }
      },
    });
    new Script(sandboxScript()).runInContext(context);
  }

  private answer(url: string, base: string, body: string | undefined) {
    this.reads.push(url);
    const path = url.startsWith(base) ? url.slice(base.length) : url;
    if (this.latest === undefined) throw new TypeError('Failed to fetch');
    const found = body === undefined ? this.found(path) : this.scanned(path, body);
    const content = structuredClone(found);
    const { delay } = this;
    this.delay = undefined;
    const json = async (): Promise<unknown> => {
      await delay;
      return content;
    };
    return { ok: found !== undefined, status: found ? 200 : 404, json };
  }

  private found(path: string): unknown {
    if (path === '/codes') return this.codes;
    if (path === '/links') return this.links;
    const number = /^\/phones\/(\d+)\/screen$/.exec(path)?.[1];
    return path === '/phones' ? this.latest : number === undefined ? undefined : (this.phones[number] ?? []);
  }

  private scanned(path: string, body: string): object | undefined {
    const { qr } = JSON.parse(body);
    const code = this.codes.find((each) => each.qr === qr);
    this.scans.push([/^\/phones\/(\d+)\/scan$/.exec(path)?.[1] ?? path, qr]);
    this.codes = this.codes.filter((each) => each !== code);
    return code;
  }
}
