import { adapt, type SchemaDialect } from './adapt.js';
import type { RouteDescription, Surroundings } from './controller-description.js';
import type { MountedHandler } from './mounted-handlers.js';
import { uniqueNames } from './names.js';
import { operationOf } from './operation.js';

/** What all operations of one document share. */
export interface PathsFrame {
  readonly surroundings: Surroundings;
  readonly dialect: SchemaDialect;
  /** Names of the security schemes of our routes. */
  readonly schemes: readonly string[];
}

type PathItem = Readonly<Record<string, unknown>>;

/** The paths of a host's document, in which our operations take the place of what was derived for them. */
export class PathsEditor {
  readonly #items: Map<string, PathItem>;
  readonly #places: ReadonlyMap<MountedHandler, string>;
  readonly #uniqueId: (operationId: string) => string;

  /** @param ours every handler that will be put */
  constructor(
    paths: object,
    ours: readonly MountedHandler[],
    private readonly frame: PathsFrame,
  ) {
    this.#items = new Map<string, PathItem>(Object.entries(paths));
    this.#places = new Map(ours.map((handler) => [handler, this.#placeOf(handler)]));
    for (const handler of ours) this.#remove(handler);
    this.#uniqueId = uniqueNames([...this.#items.values()].flatMap(operationIdsOf));
  }

  put(handler: MountedHandler, route: RouteDescription | undefined, tag: string): void {
    if (route === undefined) return;
    const { surroundings, dialect, schemes } = this.frame;
    const place = { tag, operationId: this.#uniqueId(route.operationId), schemes };
    const operation = adapt(operationOf(handler, route, place, surroundings), dialect);
    const path = this.#places.get(handler) ?? handler.path;
    this.#items.set(path, { ...this.#items.get(path), [handler.method]: operation });
  }

  result(): Readonly<Record<string, PathItem>> {
    return Object.fromEntries([...this.#items].filter(([, item]) => Object.keys(item).length > 0));
  }

  /** Where the document has the handler: without the prefix if it was made with `ignoreGlobalPrefix`. */
  #placeOf({ path, unprefixedPath, method }: MountedHandler): string {
    const has = (place: string): boolean => this.#items.get(place)?.[method] !== undefined;
    return !has(path) && has(unprefixedPath) ? unprefixedPath : path;
  }

  #remove(handler: MountedHandler): void {
    const path = this.#places.get(handler) ?? handler.path;
    const { [handler.method]: _derived, ...others } = this.#items.get(path) ?? {};
    this.#items.set(path, others);
  }
}

function operationIdsOf(item: PathItem): string[] {
  return Object.values(item).flatMap((operation) =>
    typeof operation === 'object' && operation !== null && 'operationId' in operation
      ? [String(operation.operationId)]
      : [],
  );
}
