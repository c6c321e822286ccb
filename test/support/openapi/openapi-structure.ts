import { type Described, type DescribedOperation, operationsOf, type WithExamples } from './openapi-reader.js';
import { DocumentSchemas } from './openapi-schemas.js';

/**
 * The faults of an OpenAPI document in itself: references that lead nowhere, operation ids or tags given twice,
 * undeclared parameters of a path, answers without a description, security schemes that do not exist, and examples that
 * their own schemas refuse.
 */
export function structuralFaults(document: Described & { readonly components?: object }): string[] {
  const lost = [...refsIn(document)].filter((ref) => !resolves(document, ref));
  if (lost.length > 0) return lost.map((ref) => `${ref} leads nowhere`);
  const operations = [...operationsOf(document)];
  return [
    ...twice((document.tags ?? []).map(({ name }) => name)).map((name) => `tag ${name} is given twice`),
    ...twice(operations.map(([, { operationId }]) => operationId ?? '')).map(
      (id) => `operationId ${id} is given twice`,
    ),
    ...operations.flatMap(([name, operation]) => [
      ...parameterFaults(name, operation),
      ...securityFaults(name, operation, document),
      ...Object.entries(operation.responses)
        .filter(([, { description }]) => !description)
        .map(([status]) => `${name} ${status} has no description`),
    ]),
    ...exampleFaults(document),
  ];
}

/** Every example of a document that its own schema refuses. */
export function exampleFaults(document: Described): string[] {
  const schemas = new DocumentSchemas(document);
  const faultsAt = (place: string, { schema, example, examples = {} }: WithExamples): string[] => {
    const values = [...(example === undefined ? [] : [example]), ...Object.values(examples).map(({ value }) => value)];
    if (schema === undefined) return [];
    return [...values, ...examplesIn(schema)].flatMap((value) => {
      const fault = schemas.fault(schema, value);
      return fault === undefined ? [] : [`example at ${place}: ${fault}`];
    });
  };
  const named = Object.entries(document.components?.schemas ?? {});
  return [
    ...named.flatMap(([name, schema]) => propertyFaults(name, schema, schemas)),
    ...[...operationsOf(document)].flatMap(([name, { parameters = [], requestBody, responses }]) => [
      ...parameters.flatMap((parameter) => faultsAt(`${name} ${parameter.name}`, parameter)),
      ...Object.values(requestBody?.content ?? {}).flatMap((media) => faultsAt(`${name} body`, media)),
      ...Object.entries(responses).flatMap(([status, { headers = {}, content = {} }]) => [
        ...Object.entries(headers).flatMap(([header, value]) => faultsAt(`${name} ${status} ${header}`, value)),
        ...Object.values(content).flatMap((media) => faultsAt(`${name} ${status}`, media)),
      ]),
    ]),
  ];
}

/** Examples inside a named schema, each against the part in which it stands. */
function propertyFaults(place: string, schema: unknown, schemas: DocumentSchemas): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const own = examplesIn(schema).flatMap((value) => schemas.fault(schema, value) ?? []);
  const below = Object.entries(schema).flatMap(([name, part]) => propertyFaults(`${place}.${name}`, part, schemas));
  return [...own.map((fault) => `example at ${place}: ${fault}`), ...below];
}

function examplesIn(schema: object): unknown[] {
  return 'example' in schema ? [schema.example] : [];
}

function parameterFaults(name: string, { parameters = [] }: DescribedOperation): string[] {
  const inPath = [...name.matchAll(/\{(\w+)\}/g)].map(([, parameter = '']) => parameter);
  const declared = parameters.filter((each) => each.in === 'path' && each.required === true).map((each) => each.name);
  const same = inPath.length === declared.length && inPath.every((parameter) => declared.includes(parameter));
  return [
    ...(same ? [] : [`${name} declares the path parameters ${declared.join(', ') || '(none)'}`]),
    ...twice(parameters.map((each) => `${each.in} ${each.name}`)).map((each) => `${name} declares ${each} twice`),
  ];
}

function securityFaults(
  name: string,
  { security = [] }: DescribedOperation,
  { components = {} }: { readonly components?: object },
): string[] {
  const schemes = 'securitySchemes' in components ? Object(components.securitySchemes) : {};
  return security
    .flatMap((requirement) => Object.keys(requirement))
    .filter((scheme) => !Object.hasOwn(schemes, scheme))
    .map((scheme) => `${name} asks for ${scheme}, which is no security scheme`);
}

function twice(values: readonly string[]): string[] {
  return values.filter((value, index) => values.indexOf(value) !== index);
}

function* refsIn(part: unknown): Generator<string> {
  if (typeof part !== 'object' || part === null) return;
  for (const [name, value] of Object.entries(part)) {
    if (name === '$ref' && typeof value === 'string') yield value;
    else yield* refsIn(value);
  }
}

function resolves(document: object, ref: string): boolean {
  if (!ref.startsWith('#/')) return false;
  let at: unknown = document;
  for (const step of ref.slice(2).split('/')) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return false;
    at = Object.entries(at).find(([key]) => key === name)?.[1];
  }
  return true;
}
