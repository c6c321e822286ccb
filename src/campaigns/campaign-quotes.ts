import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { MessagingError } from '../common/errors.js';
import { countryOf } from '../common/phone-numbers/phone-number.js';
import type { Writable } from '../common/writable.js';
import { OptOutDirectory } from '../sms/opt-out/opt-out-directory.js';
import { measure } from '../sms/segmentation.js';
import { SmsSettings } from '../sms/sms-options.js';
import type { CampaignQuote } from './campaign.api.js';
import type { Campaign, PendingRecipient } from './campaign.js';
import { CampaignText } from './recipients/campaign-text.js';
import { RecipientStore } from './recipients/recipient-store.js';

/** How many recipients are read and priced at a time. */
const AT_A_TIME = 1000;

type Distribution = Map<number, { recipients: number; units: number }>;
type Countries = Map<string | undefined, { recipients: number; units: number }>;

/**
 * Prices campaigns. A campaign of a million recipients is priced a thousand at a time, so that other work runs in between. Requests
 * for the same campaign share the work.
 */
@Injectable()
export class CampaignQuotes {
  private readonly running = new Map<string, Promise<CampaignQuote>>();

  constructor(
    private readonly recipients: RecipientStore,
    private readonly optOuts: OptOutDirectory,
    private readonly settings: SmsSettings,
  ) {}

  /** The price of the recipients that have not left the campaign. */
  quote(campaign: Campaign): Promise<CampaignQuote> {
    const key = `${campaign.id} ${campaign.batches} ${campaign.accepted}`;
    const running = this.running.get(key);
    if (running) return running;
    const quote = this.price(campaign).finally(() => this.running.delete(key));
    this.running.set(key, quote);
    return quote;
  }

  private async price(campaign: Campaign): Promise<CampaignQuote> {
    const sum = new QuoteSum(CampaignText.of(campaign.content, this.settings), this.settings);
    let place = campaign.place;
    for (;;) {
      const page = await this.recipients.pending(campaign, place, AT_A_TIME);
      const numbers = page.map(({ number }) => number);
      const optedOut = await this.optOuts.among(campaign.accountId, campaign.signature, numbers);
      for (const recipient of page) sum.add(recipient, optedOut.has(recipient.number));
      const last = page.at(-1);
      if (!last || page.length < AT_A_TIME) return sum.result();
      place = last.phone;
      await nextTurn();
    }
  }
}

/** Adds up the prices of recipients. */
class QuoteSum {
  private readonly distribution: Distribution = new Map();
  private readonly countries: Countries = new Map();
  private recipients = 0;
  private units = 0;
  private optedOut = 0;
  private invalid = 0;
  private longest: Writable<NonNullable<CampaignQuote['longest']>> | null = null;

  constructor(
    private readonly text: CampaignText,
    private readonly settings: SmsSettings,
  ) {}

  add({ number, vars }: PendingRecipient, hasOptedOut: boolean): void {
    this.recipients++;
    if (hasOptedOut) {
      this.optedOut++;
      return;
    }
    let completed: { readonly text: string; readonly segments: number };
    try {
      completed = this.text.completed(vars);
      this.settings.recipients.check(number);
    } catch (error) {
      if (!(error instanceof MessagingError)) throw error;
      this.invalid++;
      return;
    }
    const { text, segments } = completed;
    const units = segments * this.settings.tariff.unitsFor(number);
    this.units += units;
    addTo(this.distribution, segments, units);
    addTo(this.countries, countryOf(number), units);
    if (this.longest === null || segments > this.longest.segments) {
      this.longest = { number, characters: measure(text).characters, segments };
    }
  }

  result(): CampaignQuote {
    const { recipients, units, optedOut: opted_out, invalid, longest } = this;
    const distribution = [...this.distribution].sort(([one], [other]) => one - other);
    const countries = [...this.countries].sort(([, one], [, other]) => other.recipients - one.recipients);
    return {
      recipients,
      units,
      opted_out,
      invalid,
      distribution: distribution.map(([segments, sum]) => ({ segments, ...sum })),
      countries: countries.map(([country, sum]) => ({ country: country ?? null, ...sum })),
      longest,
    };
  }
}

function addTo<K>(sums: Map<K, { recipients: number; units: number }>, key: K, units: number): void {
  const sum = sums.get(key) ?? { recipients: 0, units: 0 };
  sums.set(key, { recipients: sum.recipients + 1, units: sum.units + units });
}
