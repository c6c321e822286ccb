type Listener = (event: { target: FakeElement; preventDefault(): void }) => void;

/**
 * The part of a browser's element that the sandbox page uses. Anything that could turn a text into markup or code is
 * refused, so a test that passes has inserted everything as text.
 */
export class FakeElement {
  parent: FakeElement | undefined;
  children: FakeElement[] = [];
  className = '';
  id = '';
  hidden = false;
  open = false;
  href = '';
  download = '';
  controls = false;
  title = '';
  value = '';
  src = '';
  alt = '';
  type = '';
  inputMode = '';
  autocomplete = '';
  disabled = false;
  lang = '';
  tabIndex = -1;
  scrollTop = 0;
  readonly scrollHeight = 0;
  readonly clientHeight = 0;
  readonly dataset: Record<string, string> = {};
  readonly attributes = new Map<string, string>();
  #text = '';
  readonly #listeners = new Map<string, Listener[]>();

  constructor(readonly name: string) {
    if (
      !/^(li|ol|article|header|h2|h3|small|span|div|p|time|page|img|audio|video|a|form|label|input|button)$/.test(name)
    )
      throw new Error(`made a <${name}>`);
  }

  get textContent(): string {
    return this.#text + this.children.map((child) => child.textContent).join('');
  }
  set textContent(text: string) {
    for (const child of this.children) child.parent = undefined;
    this.children = [];
    this.#text = String(text);
  }
  set innerHTML(_: string) {
    throw new Error('markup');
  }
  set outerHTML(_: string) {
    throw new Error('markup');
  }
  insertAdjacentHTML(): void {
    throw new Error('markup');
  }

  setAttribute(name: string, value: string): void {
    if (!/^(aria-[a-z]+|role|datetime)$/.test(name)) throw new Error(`set ${name}`);
    this.attributes.set(name, value);
  }

  append(...nodes: FakeElement[]): void {
    for (const node of nodes) this.insertBefore(node, null);
  }
  insertBefore(node: FakeElement, before: FakeElement | null): void {
    node.remove();
    const at = before === null ? this.children.length : this.children.indexOf(before);
    this.children.splice(at, 0, node);
    node.parent = this;
  }
  remove(): void {
    this.parent?.children.splice(this.parent.children.indexOf(this), 1);
    this.parent = undefined;
  }

  addEventListener(type: string, listener: Listener): void {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener]);
  }
  showModal(): void {
    this.open = true;
  }
  close(): void {
    this.open = false;
  }
  fire(type: string): void {
    for (const listener of this.#listeners.get(type) ?? []) listener({ target: this, preventDefault: () => {} });
  }

  /** All descendants of that class, in the order of the page. */
  all(className: string): FakeElement[] {
    return this.children.flatMap((child) => [
      ...(child.className.split(' ').includes(className) ? [child] : []),
      ...child.all(className),
    ]);
  }

  /** The texts of all descendants of that class. */
  texts(className: string): string[] {
    return this.all(className).map((element) => element.textContent);
  }
}
