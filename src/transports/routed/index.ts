export type { BreakerOptions, RouteRules } from './route-options.js';
export { type RoutedSmsOptions, RoutedSmsTransport, type SmsRouteOptions } from './routed-sms-transport.module.js';
