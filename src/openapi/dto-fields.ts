import { MAX_VARIABLE_VALUE } from '../common/text/personal-text.js';
import { dtoFields } from '../http/validation.js';
import {
  CODE_POINTS,
  fieldRefusal,
  METADATA,
  NUMBER_OR_CONTACT,
  PHONE_NUMBER,
  PHONE_NUMBER_LIST,
  QUERY_FLAG,
  QUERY_INTEGER,
  RECIPIENT_LIST,
  SEND_AT,
  VALID_FOR,
  WINDOW,
} from '../http/validators.js';
import { EXAMPLE, numberOrContact, phoneNumber } from '../schemas/builders.js';
import type { Schema } from '../schemas/schema.js';
import type { ErrorDescription, FieldsDescription } from './controller-description.js';

/** A field with its properties from the decorators. */
interface Field {
  readonly name: string;
  readonly required: boolean;
  readonly schema: Schema;
  /** The errors with which validation answers an absent or wrong value. */
  readonly errors: readonly ErrorDescription[];
}

/** A rule of class-validator: its schema, and examples of values that violate it. */
interface Rule {
  schema(args: readonly number[], maxRecipients: number): Schema;
  readonly wrong: readonly unknown[];
}

const NOT_A_NUMBER = `+${EXAMPLE.number}`;

/** A recipient with values of its own. */
const RECIPIENT: Schema = {
  type: 'object',
  properties: {
    number: phoneNumber('A recipient.'),
    vars: {
      type: 'object',
      nullable: true,
      description: 'The values of the variables by their names. Values that the text does not use are ignored.',
      additionalProperties: { type: 'string', maxLength: MAX_VARIABLE_VALUE },
      example: { name: 'Awa' },
    },
  },
  required: ['number'],
};

const RULES: Readonly<Record<string, Rule>> = {
  isString: { schema: () => ({ type: 'string' }), wrong: [1] },
  [CODE_POINTS]: { schema: ([minLength = 0, maxLength = 0]) => ({ minLength, maxLength }), wrong: [''] },
  [QUERY_INTEGER]: {
    schema: ([minimum = 0, maximum = 0]) => ({ type: 'integer', minimum, maximum }),
    wrong: [''],
  },
  [QUERY_FLAG]: { schema: () => ({ type: 'string', enum: ['true'] }), wrong: ['yes'] },
  [PHONE_NUMBER]: { schema: () => phoneNumber(''), wrong: [1, NOT_A_NUMBER] },
  [NUMBER_OR_CONTACT]: { schema: () => numberOrContact(''), wrong: [1, NOT_A_NUMBER] },
  [PHONE_NUMBER_LIST]: {
    schema: (_, maxItems) => ({ type: 'array', minItems: 1, maxItems, items: phoneNumber('A recipient.') }),
    wrong: [[], [NOT_A_NUMBER]],
  },
  [RECIPIENT_LIST]: {
    schema: (_, maxItems) => ({ type: 'array', minItems: 1, maxItems, items: RECIPIENT }),
    wrong: [[]],
  },
  [SEND_AT]: { schema: () => ({ type: 'string', format: 'date-time', example: EXAMPLE.moment }), wrong: [1] },
  [VALID_FOR]: {
    schema: ([minimum = 0, maximum = 0]) => ({ type: 'integer', minimum, maximum, example: 3600 }),
    wrong: [''],
  },
  // The description of the field has its schema, `GivenWindow`.
  [WINDOW]: { schema: () => ({}), wrong: [{ from: '08:00', to: '08:00' }] },
  [METADATA]: {
    schema: ([maxProperties = 0, characters]) => ({
      type: 'object',
      description: ` At most ${maxProperties} strings under keys of yours, ${characters} characters (code points) in all, keys and values.`,
      additionalProperties: { type: 'string' },
      maxProperties,
      example: { order: '4711' },
    }),
    wrong: ['', { key: 'x'.repeat(10_000) }, { order: 4711 }, { order: '\0' }],
  },
};

/** The described fields of a DTO in the order of declaration. */
export function describeFields({ dto, fields, required = [] }: FieldsDescription, maxRecipients: number): Field[] {
  return dtoFields(dto).map(({ name, optional, recipients, rules }) => {
    const known = rules.flatMap(({ name: constraint = '', constraints: args = [] }) => {
      const rule = RULES[constraint];
      return rule === undefined ? [] : [{ ...rule, constraint, args }];
    });
    const given = fields[name] ?? '';
    const said: Schema = typeof given === 'string' ? { description: given } : given;
    const derived: Schema = Object.assign({}, ...known.map(({ schema, args }) => schema(args, maxRecipients)));
    const description = `${said.description ?? ''}${derived.description ?? ''}`;
    return {
      name,
      required: !optional || required.includes(name),
      schema: { ...derived, ...said, description },
      errors: [
        ...(optional ? [] : [{ code: 'error.field_missing', values: { field: name } } as const]),
        ...known.flatMap(({ constraint, args, wrong }) =>
          wrong.map((value) =>
            fieldRefusal({ field: name, constraint, args, value, each: false, code: undefined, home: undefined }),
          ),
        ),
        ...(recipients
          ? [{ code: 'error.too_many_recipients', values: { count: maxRecipients + 1, max: maxRecipients } } as const]
          : []),
      ],
    };
  });
}
