import { type ArgumentMetadata, Injectable, type PipeTransform, type Type } from '@nestjs/common';
import { MessagingError } from '../common/errors.js';
import { type DtoField, dtoFields } from './dto-fields.js';
import { HttpSettings } from './http-settings.js';
import { asJsonObject } from './json-body.js';

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
