import { RequestMethod } from '@nestjs/common';
import { HTTP_CODE_METADATA } from '@nestjs/common/constants.js';
import type { MountedRoute } from '../http/mounted-routes.js';
import { nullable, refTo } from '../schemas/builders.js';
import { exampleOf } from '../schemas/examples.js';
import type { Schema, Schemas } from '../schemas/schema.js';
import { json } from './contents.js';
import type { ControllerParts, DtoBody, RouteDescription, Surroundings } from './controller-description.js';
import { describeFields } from './dto-fields.js';
import { errorResponses, surroundingErrors } from './errors.js';
import { successHeaders } from './headers.js';

/**
 * The operation of a handler: its description, its DTOs, and what the request gate, the guard and the idempotency add.
 * @param schemes names of the security schemes, of which each is enough
 */
export function operationOf(
  mounted: MountedRoute,
  route: RouteDescription,
  parts: ControllerParts<string>,
  { surroundings, schemes }: { readonly surroundings: Surroundings; readonly schemes: readonly string[] },
) {
  const { handler, method, authenticated } = mounted;
  const { maxRecipients } = surroundings.http;
  const { operationId, summary, description, idempotent = false, body, query } = route;
  const inQuery = query === undefined ? [] : describeFields(query, maxRecipients);
  const parameters = [
    ...pathParameters(mounted, parts),
    ...inQuery.map(queryParameter),
    ...(idempotent ? [IDEMPOTENCY_KEY] : []),
  ];
  const headers = successHeaders(handler, {
    idempotent,
    accounts: authenticated ? surroundings.accounts : undefined,
  });
  const errors = [
    ...surroundingErrors(mounted, idempotent, surroundings),
    ...inQuery.flatMap((field) => field.errors),
    ...(isDto(body) ? describeFields(body, maxRecipients).flatMap((field) => field.errors) : []),
    ...(route.errors ?? []),
    ...(parts.errors ?? []),
  ];
  const success: number =
    Reflect.getMetadata(HTTP_CODE_METADATA, handler) ?? (method === RequestMethod[RequestMethod.POST] ? 201 : 200);
  return {
    tags: [parts.tag.name],
    operationId,
    summary,
    ...(description !== undefined && { description }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: isDto(body) ? dtoBody(body, maxRecipients) : body }),
    responses: {
      [success]: { ...answerOf(route, parts), ...(Object.keys(headers).length > 0 && { headers }) },
      ...errorResponses(errors, surroundings, authenticated),
      ...furtherAnswers(route, parts, headers),
    },
    security: authenticated ? schemes.map((name) => ({ [name]: [] })) : [],
  };
}

/** The parameter of a route that accepts an Idempotency-Key (docs/http-api.md). */
const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Makes it safe to repeat the request. For 24 hours, the same key with the same body gets the first answer again, and nothing more is sent or charged. A refusal is not stored: the same key may be used again. After a 504 or a lost connection, the same request gets the answer to the first.',
  schema: { type: 'string', pattern: '^[!-~]{1,255}$' },
  example: 'order-4711',
};

/** A parameter of a query. An object becomes one parameter for each of its keys, whatever their names are. */
function queryParameter({
  name,
  schema: { description, ...schema },
}: {
  readonly name: string;
  readonly schema: Schema;
}) {
  return { name, in: 'query', description, ...(schema.type === 'object' && { style: 'form', explode: true }), schema };
}

function pathParameters({ unprefixedPath }: MountedRoute, { parameters = {} }: ControllerParts<string>): object[] {
  return [...unprefixedPath.matchAll(/:(\w+)/g)].map(([, name = '']) => {
    return { name, in: 'path', required: true, schema: { type: 'string' }, ...parameters[name] };
  });
}

function furtherAnswers(
  { furtherAnswers: answers = {} }: RouteDescription,
  parts: ControllerParts<string>,
  headers: object,
): Record<string, object> {
  return Object.fromEntries(
    Object.entries(answers).map(([status, answer]) => [status, { ...answerOf({ answer }, parts), headers }]),
  );
}

function answerOf({ answer }: Pick<RouteDescription, 'answer'>, { schemas = {} }: ControllerParts<string>): object {
  if ('description' in answer) return answer;
  const { schema, examples = { [schema]: {} } } = answer;
  const complete = Object.entries(examples).map(([label, fields]) => [label, exampleOf(schemas, schema, fields)]);
  return { description: schemas[schema]?.description, content: json(refTo(schema), Object.fromEntries(complete)) };
}

/** A body whose fields are all optional may be missing. */
function dtoBody(body: DtoBody, maxRecipients: number): object {
  const required = describeFields(body, maxRecipients).some((field) => field.required);
  return { required, content: json(refTo(body.name), body.examples) };
}

function isDto(body: RouteDescription['body']): body is DtoBody {
  return body !== undefined && 'dto' in body;
}

/** The named schemas of a controller's bodies. */
export function bodySchemas({ routes }: ControllerParts<string>, { http }: Surroundings): Schemas {
  const bodies = Object.values(routes).flatMap(({ body }) => (isDto(body) ? [body] : []));
  return Object.fromEntries(bodies.map((body) => [body.name, bodySchema(body, http.maxRecipients)]));
}

function bodySchema(body: DtoBody, maxRecipients: number): Schema {
  const fields = describeFields(body, maxRecipients);
  const properties = fields.map(({ name, schema, required }) => [name, required ? schema : nullable(schema)]);
  return {
    type: 'object',
    description: `${body.description} Further fields are ignored.`,
    properties: Object.fromEntries(properties),
    required: fields.filter(({ required }) => required).map(({ name }) => name),
  };
}
