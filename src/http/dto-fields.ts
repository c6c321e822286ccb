import type { Type } from '@nestjs/common';
import { getMetadataStorage } from 'class-validator';
import type { MessagingError } from '../common/errors.js';
import { fieldRefusal, PHONE_NUMBER_LIST, QUERY_INTEGER } from './field-refusal.js';

/** What one decorator asks of a field. */
export interface FieldRule {
  passes(value: unknown): boolean;
  refusal(value: unknown): MessagingError;
}

/** One field of a DTO, ready to be checked. */
export interface DtoField {
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
export function dtoFields(dto: Type<object>): readonly DtoField[] {
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
