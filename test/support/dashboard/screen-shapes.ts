import type { RouteView } from '../../../src/dashboard/web/screens/carriers/carriers-types.js';
import type { CodesView } from '../../../src/dashboard/web/screens/codes/codes-types.js';
import type { Quote } from '../../../src/dashboard/web/screens/compose/quote-types.js';
import type { AppMessage, Recipient, SmsSummary } from '../../../src/dashboard/web/screens/messages/message-types.js';
import type { SessionView } from '../../../src/dashboard/web/screens/numbers/numbers-types.js';
import type { QueueView } from '../../../src/dashboard/web/screens/queue/queue-types.js';
import type * as hooks from '../../../src/dashboard/web/screens/webhooks/webhook-types.js';
import type { CodesView as ServerCodes } from '../../../src/management/codes/codes-view.js';
import type { CarrierRouteView } from '../../../src/management/operator/operations/managed-carriers.js';
import type { QueuesView } from '../../../src/management/operator/operations/managed-queues.js';
import type { MsgappMessage } from '../../../src/msgapp/msgapp-results.js';
import type { SessionView as ServerSession } from '../../../src/msgapp/sessions/session-view.js';
import type { SmsSummary as ServerSms, SmsQuote, SmsRecipient } from '../../../src/sms/sms-results.js';
import type { PingResult } from '../../../src/webhooks/calls/endpoint-calls.js';
import type { AttemptView, EndpointView, EndpointWithSecret } from '../../../src/webhooks/endpoints/endpoint-view.js';

type Fits<Expected, Answered extends Expected> = [Expected, Answered];

/** What the API answers is what the screens read: a shape that has changed does not compile. The page cannot import the server's. */
export type ScreenShapes = [
  Fits<SmsSummary, ServerSms>,
  Fits<Recipient, SmsRecipient>,
  Fits<AppMessage, MsgappMessage>,
  Fits<Quote, SmsQuote>,
  Fits<CodesView, ServerCodes>,
  Fits<SessionView, ServerSession>,
  Fits<hooks.EndpointView, EndpointView>,
  Fits<hooks.EndpointWithSecret, EndpointWithSecret>,
  Fits<Omit<hooks.AttemptView, 'request'>, Omit<AttemptView, 'request'>>,
  Fits<hooks.PingResult, PingResult>,
  Fits<RouteView, CarrierRouteView>,
  Fits<QueueView, QueuesView>,
];
