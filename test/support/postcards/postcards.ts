import { Get, HttpCode, Injectable, Post } from '@nestjs/common';
import { IsString } from 'class-validator';
import { Caller } from '../../../src/accounts/caller.decorator.js';
import { Needs } from '../../../src/accounts/keys/needs.decorator.js';
import { Clock } from '../../../src/common/clock.js';
import { IdGenerator } from '../../../src/common/ids.js';
import { integer, type OptionsOf } from '../../../src/common/options.js';
import { DAY_MS } from '../../../src/common/time.js';
import { answerOf, Idempotent } from '../../../src/http/idempotent.decorator.js';
import { MessagingController } from '../../../src/http/messaging-controller.js';
import { ReplyHeaders } from '../../../src/http/parameters.js';
import { MessagingBody } from '../../../src/http/validation.js';
import { IsPhoneNumber } from '../../../src/http/validators.js';
import type { SendKey } from '../../../src/outbox/accept/send.js';
import { Channel, Channels } from '../../../src/outbox/channel.js';
import { DEFAULT_TIMING, type DeliveryResult } from '../../../src/outbox/delivery/delivery-result.js';
import { Idempotency, type IdempotentRequest } from '../../../src/outbox/idempotency.js';
import { type Acceptance, Outbox } from '../../../src/outbox/outbox.js';
import type { Delivery } from '../../../src/outbox/outbox-records.js';
import type { PurgeRule } from '../../../src/outbox/purger.js';
import { type Postcard, PostcardStore } from './postcard-store.js';

export interface PostcardOptions {
  /** Units of a card, 0 to 1000. Default 5. */
  readonly price?: number | undefined;
}

export const POSTCARD_OPTIONS = { price: integer(0, 1000).or(5) } satisfies OptionsOf<PostcardOptions>;

export abstract class PostcardSettings {
  abstract readonly price: number;
}

export class SendPostcardBody {
  @IsPhoneNumber()
  readonly number: string = '';

  @IsString()
  readonly content: string = '';
}

const POSTCARD = 'postcard';

@Injectable()
export class PostcardService {
  constructor(
    private readonly outbox: Outbox,
    private readonly idempotency: Idempotency,
    private readonly store: PostcardStore,
    private readonly settings: PostcardSettings,
    private readonly clock: Clock,
    private readonly ids: IdGenerator,
  ) {}

  /** @param key the caller's key. Without it, the send has no daily cap and is not counted for a key in the usage */
  accept(
    accountId: string,
    { number, content }: SendPostcardBody,
    key: SendKey | undefined,
    request?: IdempotentRequest,
  ): Promise<Acceptance> {
    return this.idempotency.run(accountId, 'send/postcard', request, (once) => {
      const id = this.ids.next();
      const { price: units } = this.settings;
      return this.outbox.accept({
        id,
        accountId,
        channel: POSTCARD,
        sender: 'Print',
        payload: { kind: 'card', text: content },
        recipients: [{ number, units }],
        at: this.clock.now(),
        reply: { cardID: id, units },
        key,
        ...(once && { once }),
      });
    });
  }

  printed(accountId: string): Promise<readonly Postcard[]> {
    return this.store.printed(accountId);
  }
}

/** Prints cards. It refuses the text `illegible`, so that its units are refunded. */
@Injectable()
export class PostcardChannel extends Channel {
  override readonly name = POSTCARD;
  override readonly repeat = 'idempotent';
  override readonly timing = DEFAULT_TIMING;

  constructor(
    private readonly store: PostcardStore,
    private readonly clock: Clock,
    channels: Channels,
  ) {
    super();
    channels.register(this);
  }

  override async start(): Promise<void> {}

  override async deliver(batch: readonly Delivery[]): Promise<readonly DeliveryResult[]> {
    const printedAt = this.clock.now();
    const cards = batch.map(({ messageId, accountId, number, payload }) => {
      return { messageId, accountId, number, text: String(payload.text), stamp: 'blue', printedAt };
    });
    await this.store.print(cards.filter(({ text }) => text !== 'illegible'));
    return cards.map(({ text }) =>
      text === 'illegible' ? { kind: 'refused', error: 'illegible' } : { kind: 'sent', final: 'delivered' },
    );
  }

  override lanes(): undefined {
    return undefined;
  }

  override async stop(): Promise<void> {}
}

@MessagingController()
export class PostcardController {
  constructor(private readonly postcards: PostcardService) {}

  @Post('send/postcard')
  @Needs({ scopes: [], role: 'sender', plain: true, live: true })
  @HttpCode(200)
  send(
    @Caller() { accountId, key }: Caller,
    @MessagingBody() body: SendPostcardBody,
    @Idempotent() once: IdempotentRequest | undefined,
    @ReplyHeaders() headers: ReplyHeaders,
  ): Promise<object> {
    return answerOf(this.postcards.accept(accountId, body, key, once), headers);
  }

  @Get('postcards')
  @Needs({ scopes: [], role: 'sender', plain: true })
  async list(@Caller() { accountId }: Caller): Promise<object> {
    return { items: await this.postcards.printed(accountId) };
  }
}

export function postcardPurge(store: PostcardStore): PurgeRule {
  return { what: 'postcards', keepMs: DAY_MS, purge: (before, limit) => store.purge(before, limit) };
}
