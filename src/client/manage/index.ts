export { MessagingApiError } from '../api-error.js';
export {
  type CallOptions,
  type ClientOptions,
  newIdempotencyKey,
  type SendOptions,
  type StreamCallOptions,
} from '../caller.js';
export type { Page } from '../listing.js';
export { Listing } from '../listing.js';
export type { AccountRoutes, Done } from './account-routes.js';
export type * from './account-types.js';
export { ManagementClient, type ManagementClientOptions } from './management-client.js';
export type { OperatorRoutes } from './operator-routes.js';
export type * from './operator-types.js';
export type * from './session-routes.js';
