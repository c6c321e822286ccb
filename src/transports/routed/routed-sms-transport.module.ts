import { type DynamicModule, Module } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { MessagingOptionsError } from '../../common/errors.js';
import { IdGenerator } from '../../common/ids.js';
import { storeProvider } from '../../core/capability.js';
import { type PortParts, type PortSource, providePort } from '../../core/port-provider.js';
import { OperatingSwitches } from '../../outbox/operating-state.js';
import { PolicyStore } from '../../outbox/policy/policy-store.js';
import { RouteRecipientStore } from '../../sms/route-recipients/route-recipient-store.js';
import { SmsTransport } from '../../sms/sms-transport.js';
import { type RouteRules, resolveRoutes } from './routes.js';
import { SmsRouter } from './sms-router.js';

/** One route to a carrier. */
export interface SmsRouteOptions extends RouteRules {
  /** The transport, in any form of the option `sms.transport` except a module. */
  readonly transport: PortSource<SmsTransport>;
}

/** Options of the routed transport. */
export interface RoutedSmsOptions {
  /** The routes, 1 to 100. */
  readonly routes: readonly SmsRouteOptions[];
  /** The name in logs, 1 to 40 of `a-z 0-9 - _`. Default `routed`. */
  readonly name?: string | undefined;
}

/** Joins several transports into one, for the option `sms.transport`. {@link SmsRouter} describes how it works. */
@Module({})
export class RoutedSmsTransport {
  /** @throws MessagingOptionsError with a sentence that names the wrong option */
  static forRoot(options: RoutedSmsOptions): DynamicModule {
    const settings = resolveRoutes(options);
    const routes = options.routes.map(providerOf);
    return {
      module: RoutedSmsTransport,
      imports: routes.flatMap(({ parts }) => parts.imports),
      providers: [
        storeProvider(RouteRecipientStore),
        ...routes.flatMap(({ parts }) => parts.providers),
        {
          provide: SmsTransport,
          useFactory: (
            clock: Clock,
            ids: IdGenerator,
            guards: PolicyStore,
            switches: OperatingSwitches,
            recipients: RouteRecipientStore,
            ...transports: SmsTransport[]
          ) => new SmsRouter(settings, transports, { clock, ids, guards, switches, recipients }),
          inject: [
            Clock,
            IdGenerator,
            PolicyStore,
            OperatingSwitches,
            RouteRecipientStore,
            ...routes.map(({ token }) => token),
          ],
        },
      ],
      exports: [SmsTransport],
    };
  }
}

function providerOf(
  { transport }: SmsRouteOptions,
  index: number,
): { readonly token: typeof SmsTransport; readonly parts: PortParts } {
  // Each transport needs its own token, because all have the same class.
  abstract class RouteTransport extends SmsTransport {}
  const option = `routed.routes[${index}].transport`;
  const parts = providePort(option, RouteTransport, transport);
  if (parts.providers.length > 0) return { token: RouteTransport, parts };
  throw new MessagingOptionsError(
    `Option ${option} must be a class, { useValue } or { useFactory, inject }, because the transports of modules cannot be distinguished.`,
  );
}
