import {
  type Described,
  type DescribedOperation,
  type DescribedResponse,
  pathFor,
  type WithExamples,
} from './openapi-reader.js';
import { DocumentSchemas } from './openapi-schemas.js';
import { exampleFor } from './openapi-texts.js';

/** The function with which `validatingFetch` sends requests, and its own type; Node's own is one. */
export type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

/** The error if an exchange differs from the document. */
export class OpenapiMismatch extends Error {
  override readonly name = 'OpenapiMismatch';

  constructor(
    request: string,
    readonly faults: readonly string[],
  ) {
    super(`${request} is not as described:\n- ${faults.join('\n- ')}`);
  }
}

/** Headers with a meaning for our clients. An answer may have them only where they are described. */
const OUR_HEADERS = ['www-authenticate', 'retry-after', 'idempotency-replayed', 'deprecation', 'sunset', 'link'];

/**
 * A `fetch` that compares every exchange with an OpenAPI document: path, method, status, headers, content type and body
 * of the answer, the text of an error, and the request if the answer is a success.
 *
 * @param document the answer of `/docs-json`; texts in French
 * @param send sends the request
 * @returns like `fetch`; rejects with an `OpenapiMismatch` that lists every difference
 */
export function validatingFetch(document: Described, send: Fetch = fetch): Fetch {
  const schemas = new DocumentSchemas(document);
  return async (input, init = {}) => {
    const answer = await send(input, init);
    const url = new URL(input);
    const method = (init.method ?? 'GET').toLowerCase();
    const request = `${method.toUpperCase()} ${url.pathname} → ${answer.status}`;
    const path = pathFor(document, url.pathname);
    const operation = path === undefined ? undefined : document.paths[path]?.[method];
    if (operation === undefined) throw new OpenapiMismatch(request, ['there is no such operation']);
    const response = operation.responses[answer.status];
    if (response === undefined) throw new OpenapiMismatch(request, ['there is no such status']);
    const faults = [
      ...headerFaults(answer, response, schemas),
      ...(await bodyFaults(answer, response, schemas)),
      ...(answer.ok ? requestFaults(url, init, operation, schemas) : []),
    ];
    if (faults.length > 0) throw new OpenapiMismatch(request, faults);
    return answer;
  };
}

function headerFaults(answer: Response, { headers = {} }: DescribedResponse, schemas: DocumentSchemas): string[] {
  const described = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  const unknown = OUR_HEADERS.filter((name) => answer.headers.has(name) && !described.has(name));
  return [
    ...unknown.map((name) => `header ${name} is not described`),
    ...Object.entries(headers).flatMap(([name, { required, schema = {} }]) => {
      const value = answer.headers.get(name);
      if (value === null) return required === true ? [`header ${name} is missing`] : [];
      return faultOf(`header ${name}`, schemas.fault(schema, value));
    }),
  ];
}

async function bodyFaults(
  answer: Response,
  { content = {} }: DescribedResponse,
  schemas: DocumentSchemas,
): Promise<string[]> {
  const type = answer.headers.get('content-type')?.split(';')[0]?.trim();
  const media = type === undefined ? undefined : content[type];
  // A stream of events has no end to wait for.
  if (media !== undefined && type === 'text/event-stream') return [];
  const text = await answer.clone().text();
  if (media === undefined) {
    const isEmpty = Object.keys(content).length === 0 && type === undefined && text === '';
    return isEmpty ? [] : [`content type ${type ?? '(none)'} is not described`];
  }
  const value: unknown = type === 'application/json' ? JSON.parse(text) : text;
  return [...faultOf('body', schemas.fault(media.schema ?? {}, value)), ...(answer.ok ? [] : textFaults(value, media))];
}

function textFaults(value: unknown, media: WithExamples): string[] {
  return exampleFor(value, media) === undefined ? [`no example says ${JSON.stringify(value)}`] : [];
}

/** Requests that were accepted although the document does not allow them. */
function requestFaults(
  url: URL,
  { body, headers }: RequestInit,
  { parameters = [], requestBody }: DescribedOperation,
  schemas: DocumentSchemas,
): string[] {
  const given = new Headers(headers);
  const inQuery = new Map(parameters.filter((each) => each.in === 'query').map((each) => [each.name, each]));
  const schema = requestBody?.content['application/json']?.schema;
  return [
    ...[...url.searchParams].flatMap(([name, value]) => {
      // The parameters `a.…` are the keys of the object `a`, if each key is described as a parameter.
      const object = inQuery.get(name.replace(/\..*/s, ''));
      if (object?.explode) return faultOf(`query ${name}`, schemas.fault(object.schema ?? {}, { [name]: value }));
      const parameter = inQuery.get(name);
      if (parameter === undefined) return [`query ${name} is not described`];
      const numeric = 'type' in (parameter.schema ?? {}) && Object(parameter.schema).type === 'integer';
      return faultOf(`query ${name}`, schemas.fault(parameter.schema ?? {}, numeric ? Number(value) : value));
    }),
    ...parameters
      .filter((each) => each.in === 'header' && given.has(each.name))
      .flatMap(({ name, schema = {} }) => faultOf(`request header ${name}`, schemas.fault(schema, given.get(name)))),
    ...(typeof body === 'string' && schema === undefined ? ['a request body is not described'] : []),
    ...(typeof body === 'string' && schema !== undefined
      ? faultOf('request body', schemas.fault(schema, JSON.parse(body)))
      : []),
  ];
}

function faultOf(what: string, fault: string | undefined): string[] {
  return fault === undefined ? [] : [`${what}: ${fault}`];
}
