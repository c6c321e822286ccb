import type { RouteDescription, Surroundings } from './controller-description.js';
import { deprecationHeaderDescriptions } from './deprecation-description.js';
import { errorResponses } from './error-responses.js';
import { gateOf } from './gate-errors.js';
import { IDEMPOTENCY } from './idempotency-description.js';
import type { MountedHandler } from './mounted-handlers.js';
import type { Operation } from './openapi-document.js';

/** Where an operation stands in the document. */
export interface OperationPlace {
  readonly tag: string;
  readonly operationId: string;
  /** Names of the security schemes, any of which will do. */
  readonly schemes: readonly string[];
}

/** A handler's description with everything that stands in front of it. */
export function operationOf(
  { controller, handler, status }: MountedHandler,
  route: RouteDescription,
  { tag, operationId, schemes }: OperationPlace,
  surroundings: Surroundings,
): Operation {
  const { authenticated, errors } = gateOf(controller, handler, surroundings);
  const once = route.idempotent === true;
  const parameters = [...(route.parameters ?? []), ...(once ? [IDEMPOTENCY.parameter] : [])];
  const headers = {
    ...route.answer.headers,
    ...(once ? IDEMPOTENCY.headers : {}),
    ...(authenticated ? deprecationHeaderDescriptions(surroundings.accounts) : {}),
  };
  const refusals = [...errors, ...(once ? IDEMPOTENCY.errors : []), ...route.errors];
  return {
    tags: [tag],
    operationId,
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(route.body ? { requestBody: route.body } : {}),
    responses: {
      [status]: { ...route.answer, ...(Object.keys(headers).length > 0 ? { headers } : {}) },
      ...errorResponses(refusals, surroundings, authenticated),
    },
    security: authenticated ? schemes.map((name) => ({ [name]: [] })) : [],
  };
}
