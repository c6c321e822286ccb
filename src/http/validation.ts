import {
  type ArgumentMetadata,
  createParamDecorator,
  type ExecutionContext,
  Injectable,
  type PipeTransform,
  type Type,
} from '@nestjs/common';
import type { MetadataStorage, ValidatorConstraintInterface } from 'class-validator';
import { MessagingError } from '../common/errors.js';
import { requestIn } from '../common/http-context.js';
import { HttpSettings } from './http-options.js';
import { applyLateDecorators, classValidator } from './late-decorators.js';
import { asJsonObject } from './request-body.js';
import { fieldRefusal, PHONE_NUMBER_LIST, QUERY_VALUES, RECIPIENT_LIST, WINDOW } from './validators.js';

interface PlatformRequest {
  readonly body?: unknown;
  readonly query?: unknown;
}

const RequestBody = createParamDecorator((_data: unknown, context: ExecutionContext): unknown => {
  return requestIn<PlatformRequest>(context).body;
});

const RequestQuery = createParamDecorator((_data: unknown, context: ExecutionContext): unknown => {
  return withMetadata(requestIn<PlatformRequest>(context).query);
});

const METADATA_PREFIX = 'metadata.';

/**
 * Gathers the parameters `metadata.<key>` of a query into an object `metadata`, unless there is a parameter `metadata`. Their
 * values stay as the host's parser made them, so a repeated parameter is a list.
 */
function withMetadata(query: unknown): unknown {
  const entries = Object.entries(query ?? {}).filter(([name]) => name.startsWith(METADATA_PREFIX));
  if (entries.length === 0) return query;
  const metadata = Object.fromEntries(entries.map(([name, value]) => [name.slice(METADATA_PREFIX.length), value]));
  return Object.assign({ metadata }, query);
}

/**
 * The body as the parameter's DTO, validated by our rules alone. Nest's own `@Body()` would pass it to the host's global
 * ValidationPipe first, whose options and texts are not ours; that pipe skips parameters of custom decorators. Swagger skips
 * them too; `describeMessaging` reads the same decorators.
 */
export const MessagingBody = (): ParameterDecorator => RequestBody(undefined, MessagingValidationPipe);

/** The query string as the parameter's DTO, `?metadata.a=b` as its field `metadata`; see {@link MessagingBody}. */
export const MessagingQuery = (): ParameterDecorator => RequestQuery(undefined, MessagingValidationPipe);

/**
 * Makes an instance of a DTO from a body or a query, and checks it by the rules that class-validator's decorators declare.
 * Unknown fields are ignored and `null` counts as absent, except for `window`, where it switches the default off. The error is one string in the catalogue's language, for the first
 * invalid field in the order of declaration. A class without class-validator decorators is not validated.
 *
 * The rules of a class are looked up once. class-validator's own `validate` looks them up for each object, evaluates those that
 * no longer matter, and makes an error object for each field, also for a valid one.
 *
 * The pipe does not extend Nest's `ValidationPipe`: Nest 12 keeps the packages of the pipe that was created last in module
 * variables, so a subclass with our packages would change those of the host's pipes, and the host's would change ours.
 */
@Injectable()
export class MessagingValidationPipe implements PipeTransform {
  private readonly dtos = new Map<Type<object>, readonly DtoField[]>();

  constructor(private readonly settings: HttpSettings) {}

  /** @throws MessagingError for the first invalid field, and `error.body_not_object` */
  transform(value: unknown, { metatype }: ArgumentMetadata): unknown {
    const fields = metatype === undefined ? [] : this.fieldsOf(metatype);
    if (metatype === undefined || fields.length === 0) return value;
    const given = asJsonObject(value);
    const dto = this.instantiate(metatype, fields, given);
    for (const field of fields) {
      const broken = brokenRule(field, dto);
      if (broken !== undefined) throw this.refusal(field, broken, given[field.name]);
    }
    return dto;
  }

  /**
   * Only the declared fields are read. Objects and lists are passed by reference. A list with too many entries is replaced by an
   * empty one, which its rule refuses without a walk.
   */
  private instantiate(
    metatype: Type<object>,
    fields: readonly DtoField[],
    given: Readonly<Record<string, unknown>>,
  ): Record<string, unknown> {
    const dto: Record<string, unknown> = Object.assign(new metatype());
    for (const field of fields) {
      const value = field.keepsNull ? given[field.name] : (given[field.name] ?? undefined);
      // An explicit undefined replaces the DTO's default, so that the rules of a required field see it.
      if (value === undefined && field.optional) continue;
      if (this.isTooLong(field, value)) dto[field.name] = [];
      else dto[field.name] = field.fromQuery ? field.fromQuery(value) : value;
    }
    return dto;
  }

  private refusal(
    field: DtoField,
    { name: constraint = '', constraints: args = [], each = false, context }: Rule,
    value: unknown,
  ): MessagingError {
    const { name } = field;
    if (value === undefined || value === null) return new MessagingError('error.field_missing', { field: name });
    if (this.isTooLong(field, value)) {
      return new MessagingError('error.too_many_recipients', { count: value.length, max: this.settings.maxRecipients });
    }
    const { home } = this.settings;
    return fieldRefusal({ field: name, constraint, args, each, code: context?.code, value, home });
  }

  private isTooLong({ recipients }: DtoField, value: unknown): value is readonly unknown[] {
    return recipients && Array.isArray(value) && value.length > this.settings.maxRecipients;
  }

  private fieldsOf(dto: Type<object>): readonly DtoField[] {
    let fields = this.dtos.get(dto);
    if (fields === undefined) {
      fields = dtoFields(dto);
      this.dtos.set(dto, fields);
    }
    return fields;
  }
}

type Rule = ReturnType<MetadataStorage['getTargetValidationMetadatas']>[number];

/** One declared field of a DTO. */
interface DtoField {
  readonly name: string;
  readonly optional: boolean;
  /** Whether the value is a list of recipients, whose length the host limits. */
  readonly recipients: boolean;
  /** Converts the text of a query, if the value is not a text. */
  readonly fromQuery: ((value: unknown) => unknown) | undefined;
  /** Whether null is a value of its own. Otherwise null counts as absent. */
  readonly keepsNull: boolean;
  /** The rules in the order in which class-validator keeps them: decorators are evaluated from the last to the first. */
  readonly rules: readonly Rule[];
  /** The field is checked only if all of these conditions are true. */
  readonly conditions: readonly Rule[];
  /** The rules with what checks them, in the order of the decorators. */
  readonly checks: readonly RuleCheck[];
}

/** A rule and the validators of its class. */
interface RuleCheck {
  readonly rule: Rule;
  readonly validators: readonly ValidatorConstraintInterface[];
}

/** The first rule that the value of a field violates, in the order of the decorators. */
function brokenRule({ name, conditions, checks }: DtoField, dto: Record<string, unknown>): Rule | undefined {
  const value = dto[name];
  for (const { constraints } of conditions) if (!constraints[0](dto, value)) return undefined;
  for (const check of checks) if (!isKept(check, dto, value)) return check.rule;
  return undefined;
}

function isKept({ rule, validators }: RuleCheck, object: object, value: unknown): boolean {
  if (rule.validateIf && !rule.validateIf(object, value)) return true;
  const { propertyName: property, constraints } = rule;
  const args = { targetName: object.constructor.name, property, object, value, constraints };
  const isValid = (each: unknown) => validators.every((validator) => validator.validate(each, args));
  return rule.each && Array.isArray(value) ? value.every(isValid) : isValid(value);
}

/** The fields that class-validator's decorators declare on a DTO, in the order of declaration. */
export function dtoFields(dto: Type<object>): readonly DtoField[] {
  applyLateDecorators(dto);
  const storage = classValidator().getMetadataStorage();
  const byField = storage.groupByPropertyName(storage.getTargetValidationMetadatas(dto, '', false, false));
  return Object.entries(byField).map(([name, rules]) => {
    const checks = rules
      .filter(({ type }) => type !== CONDITION)
      .map((rule) => ({ rule, validators: validatorsOf(dto, rule) }));
    return {
      name,
      optional: rules.some(({ type, name: rule }) => type === CONDITION && rule === 'isOptional'),
      recipients: rules.some(({ name: rule }) => rule === PHONE_NUMBER_LIST || rule === RECIPIENT_LIST),
      fromQuery: rules.flatMap(({ name: rule = '' }) => QUERY_VALUES[rule] ?? [])[0],
      keepsNull: rules.some(({ name: rule }) => rule === WINDOW),
      rules,
      conditions: rules.filter(({ type }) => type === CONDITION),
      checks: checks.toReversed(),
    };
  });
}

/** The type of class-validator's rules that say whether a field is checked, such as `IsOptional`. */
const CONDITION = 'conditionalValidation';

/**
 * Makes the validators of a rule. class-validator would take them from the container that a host passed to `useContainer`, which
 * may not know them.
 */
function validatorsOf(dto: Type<object>, { type, propertyName, constraintCls }: Rule): ValidatorConstraintInterface[] {
  if (type !== 'customValidation') {
    throw new Error(`${dto.name}.${propertyName}: our bodies are flat, ${type} is not supported.`);
  }
  const constraints = classValidator().getMetadataStorage().getTargetValidatorConstraints(constraintCls);
  return constraints.map(({ target }): ValidatorConstraintInterface => Reflect.construct(target, []));
}
