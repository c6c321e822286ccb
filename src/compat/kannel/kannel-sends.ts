import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { MessagingError } from '../../common/errors.js';
import { errorStatus } from '../../http/errors.js';
import { SmsService } from '../../sms/sms-service.js';
import { type DoorCaller, DoorCallers } from '../door-callers.js';
import { CallbackRefusal, StatusCallbacks } from '../status-callbacks/status-callbacks.js';
import { orderIn } from './kannel-order.js';
import { KannelQuery } from './kannel-query.js';
import { KannelRefusal, UNAUTHORIZED } from './kannel-refusal.js';

/** Kannel's `sendsms` on our SMS. */
@Injectable()
export class KannelSends {
  constructor(
    private readonly callers: DoorCallers,
    private readonly sms: SmsService,
    private readonly callbacks: StatusCallbacks,
    private readonly clock: Clock,
  ) {}

  /**
   * Sends the text of a query.
   * @param target the request target, which has the key and must not be logged
   * @throws MessagingError the errors of `SmsService.send`; KannelRefusal
   */
  async send(target: string, ip: string | undefined): Promise<void> {
    const query = new KannelQuery(target);
    const { accountId, key } = (await this.admit(query, ip)).caller;
    const { sms, dlr } = orderIn(query, this.clock.now());
    const prepared = dlr && this.callbacks.prepare({ accountId, kind: 'kannel', ...dlr });
    const stepOf = await prepared?.catch((error: unknown) => {
      throw error instanceof CallbackRefusal ? refusedUrl(error) : error;
    });
    await this.sms.send(accountId, sms, { key, stepOf: dlr?.mask === 0 ? undefined : stepOf });
  }

  /** A key in a URL is easily read by others. So it must be one that works only from some addresses. */
  private async admit(query: KannelQuery, ip: string | undefined): Promise<DoorCaller> {
    const [username, password] = [query.text('username'), query.text('password')];
    if (username === undefined || password === undefined) throw UNAUTHORIZED;
    const admitted = await this.callers.byKey(password, 'sms.send', ip).catch((error: unknown) => {
      const status = error instanceof MessagingError ? errorStatus[error.code] : undefined;
      throw status === 401 || status === 403 ? UNAUTHORIZED : error;
    });
    if (!admitted.isBound || admitted.caller.accountId !== username) throw UNAUTHORIZED;
    return admitted;
  }
}

function refusedUrl({ reason }: CallbackRefusal): KannelRefusal {
  const why = reason === 'no webhooks' ? 'needs the option webhooks of this service' : 'may not be called';
  return new KannelRefusal(400, `dlr-url ${why}, rejected`);
}
