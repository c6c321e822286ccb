import { describe, expect, test } from '@jest/globals';
import type { Type } from '@nestjs/common';
import { Validator } from 'class-validator';
import fc from 'fast-check';
import { MessagingError } from '../../../src/common/errors.js';
import { resolveHttpSettings } from '../../../src/http/http-options.js';
import { dtoFields, MessagingValidationPipe } from '../../../src/http/validation.js';
import {
  fieldRefusal,
  METADATA,
  PHONE_NUMBER,
  PHONE_NUMBER_LIST,
  QUERY_FLAG,
  QUERY_INTEGER,
  VALID_FOR,
  WINDOW,
} from '../../../src/http/validators.js';
import * as management from '../../../src/management/operator/operator.dto.js';
import * as msgapp from '../../../src/msgapp/msgapp.dto.js';
import * as otp from '../../../src/otp/otp.dto.js';
import * as sms from '../../../src/sms/sms.dto.js';
import * as webhooks from '../../../src/webhooks/endpoints/webhooks.dto.js';

const settings = resolveHttpSettings({ maxRecipients: 5 });
const pipe = new MessagingValidationPipe(settings);

/** What the pipe answers: the DTO, or the code and the values of the refusal. */
function ours(metatype: Type<object>, body: Record<string, unknown>): unknown {
  try {
    return pipe.transform(body, { type: 'custom', metatype });
  } catch (error) {
    if (!(error instanceof MessagingError)) throw error;
    return [error.code, error.values];
  }
}

/** The same by class-validator itself, for a body whose lists are not too long and whose integers are no texts. */
function theirs(metatype: Type<object>, body: Record<string, unknown>): unknown {
  const dto: Record<string, unknown> = Object.assign(new metatype());
  const fields = dtoFields(metatype);
  for (const { name, optional, keepsNull } of fields) {
    const value = keepsNull ? body[name] : (body[name] ?? undefined);
    if (value !== undefined || !optional) dto[name] = value;
  }
  const [wrong] = new Validator().validateSync(dto);
  if (wrong === undefined) return dto;
  const { property: field } = wrong;
  const value = body[field];
  if (value === undefined || value === null) return ['error.field_missing', { field }];
  const constraint = Object.keys(wrong.constraints ?? {}).at(-1) ?? '';
  const rule = fields.find(({ name }) => name === field)?.rules.find(({ name }) => name === constraint);
  const { constraints: args = [], each = false, context } = rule ?? {};
  const { code, values } = fieldRefusal({
    field,
    constraint,
    args,
    each,
    code: context?.code,
    value,
    home: settings.home,
  });
  return [code, values];
}

const NUMBER = fc.constantFrom('22670000000', '+22670000000', '0022670000000', '70000000', '1', '2267000000é');
const TEXT = fc.oneof(
  fc.constantFrom('', 'a', 'INFOS', 'é'.repeat(128), 'x'.repeat(129), 'e\u0301'),
  fc.string({ unit: 'binary', maxLength: 12 }),
);
const RUBBISH = fc.anything({ maxDepth: 1, withNullPrototype: true }).filter((value) => typeof value !== 'symbol');
const VALUE = fc.oneof(
  { weight: 4, arbitrary: NUMBER },
  { weight: 4, arbitrary: TEXT },
  { weight: 3, arbitrary: fc.array(fc.oneof({ weight: 5, arbitrary: NUMBER }, RUBBISH), { maxLength: 5 }) },
  { weight: 2, arbitrary: fc.dictionary(TEXT, TEXT, { maxKeys: 3 }) },
  { weight: 2, arbitrary: fc.constantFrom(undefined, null, 0, 1, 50, 501, 1.5, true) },
  { weight: 1, arbitrary: RUBBISH.filter((value) => !Array.isArray(value)) },
);

/** A value that keeps the rules of a field, as a rule. */
function aptValue({ rules }: ReturnType<typeof dtoFields>[number]): unknown {
  const names = rules.map(({ name }) => name);
  if (names.includes(QUERY_INTEGER)) return 50;
  if (names.includes(QUERY_FLAG)) return true;
  if (names.includes(PHONE_NUMBER_LIST)) return ['22670000000', '22670000001'];
  if (names.includes(METADATA)) return { order: '7' };
  if (names.includes(VALID_FOR)) return 60;
  if (names.includes(WINDOW)) return { from: '08:00', to: '20:00' };
  return names.includes(PHONE_NUMBER) ? '22670000000' : 'INFOS';
}

const DTOS = [sms, otp, msgapp, webhooks, management]
  .flatMap((module): unknown[] => Object.values(module))
  .filter((each): each is Type<object> => typeof each === 'function' && dtoFields(each as Type<object>).length > 0);

describe('our check of a body is that of class-validator', () => {
  test.each(DTOS.map((dto) => [dto.name, dto] as const))('%s', (_, dto) => {
    const fields = dtoFields(dto).map((field) => {
      const value = field.fromQuery ? VALUE.filter((each) => typeof each !== 'string') : VALUE;
      return [field.name, fc.oneof({ weight: 4, arbitrary: fc.constant(aptValue(field)) }, value)] as const;
    });
    let valid = 0;
    fc.assert(
      fc.property(fc.record({ ...Object.fromEntries(fields), other: RUBBISH }), (body) => {
        const answer = ours(dto, body);
        if (answer instanceof dto) valid++;
        expect(answer).toStrictEqual(theirs(dto, body));
      }),
      { numRuns: 500 },
    );
    expect(valid).toBeGreaterThan(0);
  });
});
