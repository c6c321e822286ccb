import { afterEach, describe, expect, test } from '@jest/globals';
import { type Type, ValidationPipe } from '@nestjs/common';
import { instanceToPlain, plainToInstance } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsIn,
  IsOptional,
  IsString,
  Matches,
  MaxLength,
  useContainer,
  ValidateNested,
  type ValidatorOptions,
  validate,
} from 'class-validator';
import fc from 'fast-check';
import { MessagingError } from '../../../src/common/errors.js';
import { fr } from '../../../src/common/text/catalogue.fr.js';
import { renderText } from '../../../src/common/text/catalogue.js';
import { resolveHttpSettings } from '../../../src/http/http-options.js';
import { MessagingValidationPipe } from '../../../src/http/validation.js';
import { IsPhoneNumber, IsPhoneNumberList } from '../../../src/http/validators.js';

const pipe = new MessagingValidationPipe(resolveHttpSettings({ maxRecipients: 10 }));
const transform = (metatype: Type<unknown>, value: unknown): unknown =>
  pipe.transform(value, { type: 'body', metatype });

function refusal(metatype: Type<unknown>, value: unknown): string | undefined {
  try {
    transform(metatype, value);
    return undefined;
  } catch (error) {
    if (!(error instanceof MessagingError)) throw error;
    return renderText(fr, error.code, error.values);
  }
}

class Parent {
  @IsPhoneNumber()
  to!: string;
}

class Message extends Parent {
  @IsString()
  @MaxLength(5)
  service!: string;

  @IsOptional()
  @IsIn(['sms', 'other'])
  channel?: string;

  @IsOptional()
  @IsArray()
  @ArrayMaxSize(3)
  @IsString({ each: true })
  @MaxLength(3, { each: true })
  tags?: string[];

  @IsOptional()
  @IsPhoneNumberList()
  numbers?: string[];

  @Matches(/^\d{4}$/, { context: { code: 'error.empty_message' } })
  code = '0000';
}

const good = { to: '22670000000', service: 'Shop', code: '1234' };

/** The refusal of an entry that is not a string. */
const NOT_STRINGS = (given: string) =>
  `Les numéros de numbers doivent être des chaînes, comme dans ["22670000001"], et non ${given} : un nombre JSON perdrait des zéros de tête`;

describe('MessagingValidationPipe', () => {
  test('makes an instance of the DTO with only the declared fields', () => {
    const made = transform(Message, { ...good, channel: null, tags: ['a'], other: 1, toString: 2 });
    expect(made).toBeInstanceOf(Message);
    expect(Object.entries(made ?? {}).filter(([, value]) => value !== undefined)).toEqual(
      expect.arrayContaining(Object.entries({ ...good, tags: ['a'] })),
    );
    expect(Object.keys(made ?? {})).not.toContain('other');
  });

  test.each<[unknown, string]>([
    [{ ...good, service: 'too long' }, 'Le champ service est invalide'],
    [{ ...good, service: ['x'] }, 'Le champ service doit être une chaîne de caractères'],
    [{ ...good, channel: 'fax' }, 'Le champ channel est invalide'],
    [{ ...good, tags: 'a' }, 'Le champ tags doit être une liste de chaînes de caractères non vide'],
    [{ ...good, tags: ['a', 1] }, 'Le champ tags doit être une liste de chaînes de caractères non vide'],
    [{ ...good, tags: ['abcd'] }, 'Le champ tags est invalide'],
    [{ ...good, tags: ['a', 'b', 'c', 'd'] }, 'Le champ tags est invalide'],
    [{ ...good, tags: Array(11).fill('a') }, 'Le champ tags est invalide'],
    [{ ...good, service: Array(11).fill('a') }, 'Le champ service doit être une chaîne de caractères'],
    [{ ...good, numbers: Array(11).fill('a') }, 'Trop de destinataires : 11, maximum 10'],
    [{ ...good, numbers: ['22670000000', 22670000001] }, NOT_STRINGS('22670000001')],
    [{ ...good, numbers: [2.5e300, null] }, NOT_STRINGS('2.5e+300')],
    [{ ...good, numbers: ['22670000000', null] }, NOT_STRINGS('null')],
    [{ ...good, numbers: [['22670000000']] }, NOT_STRINGS('object')],
    [{ ...good, numbers: [] }, 'Le champ numbers doit être une liste de chaînes de caractères non vide'],
    [{ ...good, numbers: Array(10).fill('a') }, 'Numéro invalide : a'],
    [{ ...good, to: 22670000000 }, 'Le champ to doit être une chaîne de caractères'],
    [{ ...good, to: '022670000000' }, 'Numéro invalide : 022670000000'],
    [{ ...good, to: undefined }, 'Le champ to est obligatoire'],
    [{ ...good, code: '12' }, 'Le message ne doit pas être vide'],
    [[], 'Le corps de la requête doit être un objet JSON'],
    [undefined, 'Le corps de la requête doit être un objet JSON'],
  ])('refuses %j', (value, message) => {
    expect(refusal(Message, value)).toBe(message);
  });

  test('passes on values without rules', () => {
    class Plain {}
    expect([transform(Plain, 7), transform(String, 'x'), pipe.transform(8, { type: 'custom' })]).toEqual([7, 'x', 8]);
  });

  test('throws when a nested body is declared, because it cannot read one', () => {
    class Nested {
      @ValidateNested()
      inner!: object;
    }
    expect(() => transform(Nested, { inner: {} })).toThrow('Nested.inner');
  });

  test('throws only refusals, whatever the input is', () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), (to, service) => {
        const message = refusal(Message, { to, service, code: '1234' });
        expect(message === undefined || typeof message === 'string').toBe(true);
      }),
    );
  });

  test('reads only the declared fields, and descends into none of them', () => {
    const refuseWalk = (target: object): object =>
      new Proxy(target, {
        ownKeys: () => {
          throw new Error('walked');
        },
      });
    const read = new Set<string | symbol>();
    const body = new Proxy(Object.assign(refuseWalk({}), good, { other: 1 }), {
      get: (target, name) => {
        read.add(name);
        return Reflect.get(target, name);
      },
    });
    const numbers = ['22670000000'];
    expect(transform(Message, Object.assign(body, { numbers }))).toHaveProperty('numbers', numbers);
    expect(read).toEqual(new Set(['to', 'service', 'channel', 'tags', 'numbers', 'code']));
    expect(refusal(Message, { ...good, service: refuseWalk({}) })).toContain('service');
    expect(refusal(Message, { ...good, to: refuseWalk([]) })).toContain('to');
  });

  test('passes a list on without a copy', () => {
    const numbers = ['22670000000'];
    const made: unknown = transform(Message, { ...good, numbers });
    expect(made instanceof Message && made.numbers === numbers).toBe(true);
  });

  test('does not walk through a list that is too long', () => {
    const read: (string | symbol)[] = [];
    const numbers = new Proxy(Array(11).fill('a'), {
      get: (target, name) => {
        read.push(name);
        return Reflect.get(target, name);
      },
    });
    expect(refusal(Message, { ...good, numbers })).toBe('Trop de destinataires : 11, maximum 10');
    expect(new Set(read)).toEqual(new Set(['length']));
    expect(refusal(Message, { ...good, service: 7, numbers })).toContain('service');
  });

  describe('beside the validation of a host', () => {
    afterEach(() => useContainer(emptyContainer, { fallback: true }));

    test('asks no container for its validators', () => {
      useContainer({
        get: () => {
          throw new Error('unknown provider');
        },
      });
      class Late {
        @IsString()
        text!: string;
      }
      const fresh = new MessagingValidationPipe(resolveHttpSettings());
      expect(fresh.transform({ text: 'x' }, { type: 'custom', metatype: Late })).toEqual({ text: 'x' });
      expect(transform(Message, good)).toBeInstanceOf(Message);
    });

    test.each(['before', 'after'])('shares no packages with a ValidationPipe that is made %s', async (order) => {
      let asked = 0;
      const makeHost = () =>
        new ValidationPipe({
          transform: true,
          validatorPackage: {
            validate: (object: object, options: ValidatorOptions) => {
              asked++;
              return validate(object, options);
            },
          },
          transformerPackage: {
            plainToInstance: (cls, plain) => {
              asked++;
              return plainToInstance(cls, plain);
            },
            classToPlain: instanceToPlain,
          },
        });
      const early = order === 'before' ? makeHost() : undefined;
      const ours = new MessagingValidationPipe(resolveHttpSettings());
      const host = early ?? makeHost();
      await ours.transform(good, { type: 'body', metatype: Message });
      expect(asked).toBe(0);
      await host.transform(good, { type: 'body', metatype: Message });
      expect(asked).toBe(2);
    });
  });
});

/** An empty container, which has the same effect as none. */
const emptyContainer = { get: () => undefined };
