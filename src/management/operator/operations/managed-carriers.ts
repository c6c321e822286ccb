import { Injectable } from '@nestjs/common';
import { Clock } from '../../../common/clock.js';
import { MessagingError } from '../../../common/errors.js';
import { Notifier, publishNotice } from '../../../common/notifier.js';
import { isoOf } from '../../../common/phone-numbers/iso.js';
import { Channels } from '../../../outbox/channel.js';
import { Idempotency } from '../../../outbox/idempotency.js';
import type { Acceptance } from '../../../outbox/outbox.js';
import type { LinkState, RouteState } from '../../../sms/carrier-state.js';
import type { UnreadNumber } from '../../../sms/inbound/unread-numbers.js';
import { SmsChannel } from '../../../sms/sms-channel.js';
import { type OperatorCallOptions, operatorCall } from '../operator-call.js';
import type { CarrierLinkView, CarrierRouteView, CarriersView, UnreadNumberView } from './carriers.api.js';
import { OperatingControl } from './operating-control.js';

/** Manages the routes to carriers, for operators. Each method can throw `error.storage_unavailable`. */
@Injectable()
export class ManagedCarriers {
  constructor(
    private readonly control: OperatingControl,
    private readonly channels: Channels,
    private readonly idempotency: Idempotency,
    private readonly notifier: Notifier,
    private readonly clock: Clock,
  ) {}

  /** Returns the routes of this process, and which of them rest in all processes. */
  async read(): Promise<CarriersView> {
    const { rested } = await this.control.state();
    return {
      routes: this.routes().map((route) => routeView(route, rested.has(route.name))),
      unread_numbers: this.channels.ofType(SmsChannel).flatMap(({ unreadNumbers }) => unreadNumbers.map(unreadView)),
    };
  }

  /**
   * Rests a route: it takes no new attempts, in all processes within five seconds. Other routes take over, as they do if the
   * route fails. If none is left, messages wait. Running attempts go on.
   *
   * @throws MessagingError `error.route_not_found`
   */
  rest(route: string, options: OperatorCallOptions = {}): Promise<Acceptance> {
    return this.switch('rest', route, options);
  }

  /** Ends the rest of a route. @throws MessagingError `error.route_not_found` */
  resume(route: string, options: OperatorCallOptions = {}): Promise<Acceptance> {
    return this.switch('resume', route, options);
  }

  private switch(what: 'rest' | 'resume', name: string, options: OperatorCallOptions): Promise<Acceptance> {
    const { by, once, scope } = operatorCall('a rest', options);
    return this.idempotency.keeping(scope, `manage/carriers/${name}/${what}`, once, async () => {
      const route = this.routes().find((each) => each.name === name);
      if (!route) throw new MessagingError('error.route_not_found');
      const call = { by, at: this.clock.now() };
      try {
        if (what === 'rest') await this.control.rest(name, call);
        else await this.control.resumeRoute(name, call);
      } finally {
        // This also happens after a storage error, because the change may have been committed.
        publishNotice(this.notifier, 'operating', '*');
        const resumed = what === 'resume' ? this.channels.all() : [];
        for (const channel of resumed) publishNotice(this.notifier, 'due', channel.name);
      }
      return routeView(route, what === 'rest');
    });
  }

  private routes(): readonly RouteState[] {
    return this.channels.ofType(SmsChannel).flatMap(({ carriers }) => carriers);
  }
}

function routeView(route: RouteState, isResting: boolean): CarrierRouteView {
  const { name, transport, breaker, links, pace, submits = 0, interruptions, lastError } = route;
  return {
    name,
    kind: transport,
    state: isResting ? 'resting' : stateOf(route),
    breaker: breaker ?? null,
    links: links.map(linkView),
    pace: pace ?? null,
    submits,
    interruptions: interruptions ?? null,
    last_error: lastError ?? null,
  };
}

function unreadView({ route, count, last, lastAt }: UnreadNumber): UnreadNumberView {
  return { route, count, last, last_at: isoOf(lastAt) };
}

function stateOf({ usable, breaker = 'closed' }: RouteState): 'open' | 'broken' | 'down' {
  if (breaker !== 'closed') return 'broken';
  return usable ? 'open' : 'down';
}

function linkView({ name, state, since, window, inFlight }: LinkState): CarrierLinkView {
  return { name, state, since: isoOf(since), window, in_flight: inFlight };
}
