import { Ajv, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';
import type { Described } from './openapi-reader.js';

/** Validates values against the schemas of one OpenAPI 3.0 document; ajv knows `nullable` by itself. */
export class DocumentSchemas {
  // Strict, so that a schema with a word that means nothing is a mistake too.
  readonly #ajv = formats.default(new Ajv({ allErrors: true, strict: true, strictTypes: false }));
  readonly #compiled = new WeakMap<object, ValidateFunction>();

  constructor(private readonly document: Described) {
    this.#ajv.addVocabulary(['components', 'example']);
  }

  /** What is wrong with a value, in one line; undefined when nothing is. */
  fault(schema: object, value: unknown): string | undefined {
    const validate = this.#validatorOf(schema);
    return validate(value) ? undefined : this.#ajv.errorsText(validate.errors, { dataVar: 'value' });
  }

  #validatorOf(schema: object): ValidateFunction {
    let validate = this.#compiled.get(schema);
    if (validate === undefined) {
      validate = this.#ajv.compile({ ...schema, components: this.document.components ?? {} });
      this.#compiled.set(schema, validate);
    }
    return validate;
  }
}
