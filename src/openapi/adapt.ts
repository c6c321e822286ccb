import { SCHEMAS } from './schemas.js';

/** How our part is to be written into one document. */
export interface SchemaDialect {
  /** The document is of OpenAPI 3.0, where `nullable` is a keyword; later versions have a type `null`. */
  readonly nullable: boolean;
  /** Names that our schemas have in it, where the host has taken ours. */
  readonly renamed: ReadonlyMap<string, string>;
}

/** Our part of a document as `dialect` has it; nothing of the original is touched. */
export function adapt(part: unknown, dialect: SchemaDialect): unknown {
  if (Array.isArray(part)) return part.map((entry) => adapt(entry, dialect));
  if (typeof part !== 'object' || part === null) return part;
  const adapted: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(part)) {
    if (name === '$ref' && typeof value === 'string') adapted.$ref = referTo(value, dialect);
    else if (name === 'nullable' && !dialect.nullable) adapted.type = [...[adapted.type].flat(), 'null'];
    else adapted[name] = adapt(value, dialect);
  }
  return adapted;
}

function referTo(target: string, { renamed }: SchemaDialect): string {
  const name = target.slice(SCHEMAS.length);
  return `${SCHEMAS}${renamed.get(name) ?? name}`;
}
