import {
  type ArgumentMetadata,
  createParamDecorator,
  type ExecutionContext,
  Injectable,
  type PipeTransform,
  type Type,
} from '@nestjs/common';
import type { ClassTransformOptions } from 'class-transformer';
import type { MetadataStorage, ValidatorOptions } from 'class-validator';
import { MessagingError } from '../common/errors.js';
import { HttpSettings } from './http-options.js';
import { applyLateDecorators, classTransformer, classValidator } from './late-decorators.js';
import { asJsonObject } from './request-body.js';
import { fieldRefusal, PHONE_NUMBER_LIST } from './validators.js';

interface PlatformRequest {
  readonly body?: unknown;
  readonly query?: unknown;
}

const RequestBody = createParamDecorator((_data: unknown, context: ExecutionContext): unknown => {
  return context.switchToHttp().getRequest<PlatformRequest>().body;
});

const RequestQuery = createParamDecorator((_data: unknown, context: ExecutionContext): unknown => {
  return withMetadata(context.switchToHttp().getRequest<PlatformRequest>().query);
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

/** Our DTOs have no `@Expose` and no `@Exclude`, so class-transformer need not look for them. `@Transform` still applies. */
const TRANSFORM: ClassTransformOptions = { ignoreDecorators: true };

/** class-validator builds no texts, because we use those of our catalogue. */
const OPTIONS: ValidatorOptions = {
  dismissDefaultMessages: true,
  validationError: { target: false, value: false },
};

/**
 * Makes an instance of a DTO from a body or a query, with class-transformer, and validates it with class-validator. Unknown
 * fields are ignored and `null` counts as absent. The error is one string in the catalogue's language, for the first invalid
 * field in the order of declaration. A class without class-validator decorators is not validated.
 *
 * The pipe does not extend Nest's `ValidationPipe`: Nest 12 keeps the packages of the pipe that was created last in module
 * variables, so a subclass with our packages would change those of the host's pipes, and the host's would change ours.
 */
@Injectable()
export class MessagingValidationPipe implements PipeTransform {
  private readonly dtos = new Map<Type<object>, readonly DtoField[]>();
  /** A validator of our own, because the library's functions take theirs from the host's container. */
  private readonly validator = new (classValidator().Validator)();

  constructor(private readonly settings: HttpSettings) {}

  /** @throws MessagingError for the first invalid field, and `error.body_not_object` */
  transform(value: unknown, { metatype }: ArgumentMetadata): unknown {
    const fields = metatype === undefined ? [] : this.fieldsOf(metatype);
    if (metatype === undefined || fields.length === 0) return value;
    const given = asJsonObject(value);
    const dto = this.instantiate(metatype, fields, given);
    const [error] = this.validator.validateSync(dto, OPTIONS);
    if (error === undefined) return dto;
    throw this.refusal(fields, error.property, Object.keys(error.constraints ?? {}), given[error.property]);
  }

  /**
   * Only the declared fields reach the libraries. Objects and lists are passed by reference: class-transformer would copy
   * them, to any depth. A list with too many entries is replaced by an empty one, which its rule refuses without a walk.
   */
  private instantiate(
    metatype: Type<object>,
    fields: readonly DtoField[],
    given: Readonly<Record<string, unknown>>,
  ): object {
    const scalars: Record<string, unknown> = {};
    const references: Record<string, unknown> = {};
    for (const field of fields) {
      const value = given[field.name] ?? undefined;
      if (typeof value === 'object') references[field.name] = this.isTooLong(field, value) ? [] : value;
      // An explicit undefined replaces the DTO's default, so that the rules of a required field see it.
      else if (value !== undefined || !field.optional) scalars[field.name] = value;
    }
    return Object.assign(classTransformer().plainToInstance(metatype, scalars, TRANSFORM), references);
  }

  private refusal(
    fields: readonly DtoField[],
    name: string,
    broken: readonly string[],
    value: unknown,
  ): MessagingError {
    if (value === undefined || value === null) return new MessagingError('error.field_missing', { field: name });
    const field = fields.find((each) => each.name === name);
    if (field !== undefined && this.isTooLong(field, value)) {
      return new MessagingError('error.too_many_recipients', { count: value.length, max: this.settings.maxRecipients });
    }
    // Decorators are evaluated, and their rules checked, from the last to the first.
    const constraint = broken.at(-1) ?? '';
    const rule = field?.rules.find((each) => each.name === constraint);
    const { constraints: args = [], each = false, context } = rule ?? {};
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
  readonly rules: readonly Rule[];
}

/** The fields that class-validator's decorators declare on a DTO, in the order of declaration. */
export function dtoFields(dto: Type<object>): readonly DtoField[] {
  applyLateDecorators(dto);
  const storage = classValidator().getMetadataStorage();
  const byField = storage.groupByPropertyName(storage.getTargetValidationMetadatas(dto, '', false, false));
  return Object.entries(byField).map(([name, rules]) => {
    for (const rule of rules) prepare(dto, rule);
    return {
      name,
      optional: rules.some(({ type, name: rule }) => type === 'conditionalValidation' && rule === 'isOptional'),
      recipients: rules.some(({ name: rule }) => rule === PHONE_NUMBER_LIST),
      rules,
    };
  });
}

/**
 * Stores a rule's validator in the rule. Otherwise class-validator looks for it at each validation: in the container that a host
 * passed to `useContainer`, which may not know it, or in a list of the validators of all classes in the process.
 */
function prepare(dto: Type<object>, { type, propertyName, constraintCls }: Rule): void {
  if (type === 'nestedValidation' || type === 'promiseValidation') {
    throw new Error(`${dto.name}.${propertyName}: our bodies are flat, ${type} is not supported.`);
  }
  for (const constraint of classValidator().getMetadataStorage().getTargetValidatorConstraints(constraintCls)) {
    const value: unknown = Reflect.construct(constraint.target, []);
    Object.defineProperty(constraint, 'instance', { value, configurable: true });
  }
}
