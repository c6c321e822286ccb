import { Ajv, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';
import type { Described } from './openapi-reader.js';

/** The name under which a schema reaches the document's components, which are compiled once. */
const DOCUMENT = 'document';

/**
 * The compiled schemas by their text, for each text of components, because many hosts of a suite have the same ones.
 */
const compiled = new Map<string, { readonly ajv: Ajv; readonly validators: Map<string, ValidateFunction> }>();

/** Validates values against the schemas of one OpenAPI 3.0 document. ajv itself supports `nullable`. */
export class DocumentSchemas {
  readonly #known;
  readonly #validators = new WeakMap<object, ValidateFunction>();

  constructor({ components = {} }: Described) {
    const text = JSON.stringify(components);
    this.#known = compiled.get(text) ?? { ajv: ajvOf(components), validators: new Map() };
    compiled.set(text, this.#known);
  }

  /** The faults of a value, in one line; undefined if there are none. */
  fault(schema: object, value: unknown): string | undefined {
    const validate = this.#validatorOf(schema);
    return validate(value) ? undefined : this.#known.ajv.errorsText(validate.errors, { dataVar: 'value' });
  }

  #validatorOf(schema: object): ValidateFunction {
    const met = this.#validators.get(schema);
    if (met) return met;
    const { ajv, validators } = this.#known;
    const text = JSON.stringify(schema).replaceAll('"$ref":"#/', `"$ref":"${DOCUMENT}#/`);
    const validate = validators.get(text) ?? ajv.compile(JSON.parse(text));
    validators.set(text, validate);
    this.#validators.set(schema, validate);
    return validate;
  }
}

function ajvOf(components: object): Ajv {
  // Strict, so that an unknown word in a schema is a mistake too.
  const ajv = formats.default(new Ajv({ allErrors: true, strict: true, strictTypes: false }));
  ajv.addVocabulary(['components', 'example']);
  return ajv.addSchema({ $id: DOCUMENT, components });
}
