export { type RoutedSmsOptions, RoutedSmsTransport, type SmsRouteOptions } from './routed-sms-transport.module.js';
export type { BreakerOptions, DistinctRecipientsOptions, RouteRules } from './routes.js';
