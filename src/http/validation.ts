import {
  type ArgumentMetadata,
  createParamDecorator,
  type ExecutionContext,
  Injectable,
  type PipeTransform,
  type Type,
} from '@nestjs/common';
import { getMetadataStorage } from 'class-validator';
import { MessagingError } from '../common/errors.js';
import { HttpSettings } from './http-settings.js';
import { asJsonObject } from './request-body.js';
import { fieldRefusal, PHONE_NUMBER_LIST, QUERY_INTEGER } from './validators.js';

interface PlatformRequest {
  readonly body?: unknown;
  readonly query?: unknown;
}

const RequestBody = createParamDecorator((_data: unknown, context: ExecutionContext): unknown => {
  return context.switchToHttp().getRequest<PlatformRequest>().body;
});

const RequestQuery = createParamDecorator((_data: unknown, context: ExecutionContext): unknown => {
  return context.switchToHttp().getRequest<PlatformRequest>().query;
});

/**
 * The body as the parameter's DTO, checked by our rules alone. Nest's own `@Body()` would first hand it to the host's
 * global ValidationPipe, whose `forbidNonWhitelisted` or texts are not ours; that pipe passes over parameters of custom
 * decorators. Swagger does not see those either: `*.openapi.ts` beside the controller describes them.
 */
export const MessagingBody = (): ParameterDecorator => RequestBody(undefined, MessagingValidationPipe);

/** The query string as the parameter's DTO; the same applies. */
export const MessagingQuery = (): ParameterDecorator => RequestQuery(undefined, MessagingValidationPipe);

/**
 * Makes a DTO of a body or a query: only the fields that the DTO declares, `null` as absent, nothing converted (but for
 * `@IsQueryInteger()`). The first field that is wrong is the answer, one string in the catalogue's language. A class
 * without class-validator decorators is passed on as it is.
 */
@Injectable()
export class MessagingValidationPipe implements PipeTransform {
  readonly #fields = new Map<Type<object>, readonly DtoField[]>();

  constructor(private readonly settings: HttpSettings) {}

  transform(value: unknown, { metatype }: ArgumentMetadata): unknown {
    const fields = metatype === undefined ? [] : this.fieldsOf(metatype);
    if (metatype === undefined || fields.length === 0) return value;
    const given = asJsonObject(value);
    const dto: Record<string, unknown> = new metatype();
    for (const field of fields) this.take(field, given[field.name], dto);
    return dto;
  }

  private take(field: DtoField, value: unknown, dto: Record<string, unknown>): void {
    const { name, optional, digits, recipients, rules } = field;
    if (value === undefined || value === null) {
      if (optional) return;
      throw new MessagingError('error.field_missing', { field: name });
    }
    // Before anything walks over it: 50 MB are millions of entries.
    const max = this.settings.maxRecipients;
    if (recipients && Array.isArray(value) && value.length > max) {
      throw new MessagingError('error.too_many_recipients', { count: value.length, max });
    }
    const taken = digits ? integerOf(value) : value;
    for (const rule of rules) if (!rule.passes(taken)) throw rule.refusal(taken);
    dto[name] = taken;
  }

  private fieldsOf(dto: Type<object>): readonly DtoField[] {
    let fields = this.#fields.get(dto);
    if (fields === undefined) {
      fields = dtoFields(dto);
      this.#fields.set(dto, fields);
    }
    return fields;
  }
}

/** The number that decimal digits stand for; anything else as it is. */
function integerOf(value: unknown): unknown {
  return typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
}

/** What one decorator asks of a field. */
interface FieldRule {
  passes(value: unknown): boolean;
  refusal(value: unknown): MessagingError;
}

/** One field of a DTO, ready to be checked. */
interface DtoField {
  readonly name: string;
  readonly optional: boolean;
  /** Whether the value comes as digits of a query string. */
  readonly digits: boolean;
  /** Whether the value is a list of recipients, of which there may only be so many. */
  readonly recipients: boolean;
  /** In the order the decorators are written. */
  readonly rules: readonly FieldRule[];
}

type Metadata = ReturnType<ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']>[number];

/**
 * Reads once what class-validator's decorators ask of a flat DTO, so that a request only runs the checks: the library's
 * own `validate` gathers and groups the same metadata for every object. Fields in the order they are declared.
 */
function dtoFields(dto: Type<object>): readonly DtoField[] {
  const storage = getMetadataStorage();
  const byField = storage.groupByPropertyName(storage.getTargetValidationMetadatas(dto, '', false, false));
  return Object.entries(byField).map(([name, decorators]) => ({
    name,
    optional: decorators.some((decorator) => isOptional(decorator)),
    digits: decorators.some((decorator) => decorator.name === QUERY_INTEGER),
    recipients: decorators.some((decorator) => decorator.name === PHONE_NUMBER_LIST),
    // Decorators are evaluated from the last to the first.
    rules: decorators.reverse().flatMap((decorator) => rulesOf(dto, decorator)),
  }));
}

function isOptional({ type, name }: Metadata): boolean {
  return type === 'conditionalValidation' && name === 'isOptional';
}

function rulesOf(dto: Type<object>, metadata: Metadata): FieldRule[] {
  if (isOptional(metadata) || metadata.type === 'whitelistValidation') return [];
  if (metadata.type !== 'customValidation' && metadata.type !== 'isDefined') {
    throw new Error(`${dto.name}.${metadata.propertyName}: our bodies are flat, ${metadata.type} is not supported.`);
  }
  const { propertyName, constraints, each, context } = metadata;
  return getMetadataStorage()
    .getTargetValidatorConstraints(metadata.constraintCls)
    .map(({ instance, name: constraint }) => {
      const passes = (value: unknown): boolean =>
        instance.validate(value, {
          value,
          constraints,
          targetName: dto.name,
          object: dto,
          property: propertyName,
        }) === true;
      return {
        passes: each ? (value) => (Array.isArray(value) ? value.every(passes) : passes(value)) : passes,
        refusal: (value) =>
          fieldRefusal({ field: propertyName, constraint, args: constraints, each, code: context?.code, value }),
      };
    });
}
