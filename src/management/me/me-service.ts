import { Injectable, Optional } from '@nestjs/common';
import type { Caller } from '../../accounts/keys/authenticator.js';
import {
  isAtLeast,
  KEY_SCOPES,
  type KeyScope,
  PERMISSION_NAMES,
  type PermissionName,
  permissionOf,
} from '../../accounts/keys/permissions.js';
import { CampaignService } from '../../campaigns/campaign-service.js';
import { MessagingError } from '../../common/errors.js';
import { isAccountId } from '../../common/inputs.js';
import { callingCodeOf, isCountryCode, nationalLengthsOf } from '../../common/phone-numbers/phone-number.js';
import { en } from '../../common/text/catalogue.en.js';
import { LoginHookSettings } from '../../hooks/login-hook-options.js';
import { HttpSettings } from '../../http/http-options.js';
import { Channels } from '../../outbox/channel.js';
import { TextSources } from '../../outbox/text-sources.js';
import { SmsSettings } from '../../sms/sms-options.js';
import { WebhookService } from '../../webhooks/endpoints/webhook-service.js';
import { OverviewStore } from '../usage/overview-store.js';
import type { AccountSummary, CapabilitiesView, HomeView, MeView } from './me.api.js';
import { Standstills } from './standstills.js';

/** A caller, with the known facts about its key. */
type KnownCaller = Caller & {
  readonly key?: { readonly name?: string | undefined; readonly scopes?: readonly KeyScope[] | undefined } | undefined;
};

/** Says who a caller is, what it may do, and what the application has mounted. */
@Injectable()
export class MeService {
  constructor(
    private readonly store: OverviewStore,
    private readonly channels: Channels,
    private readonly texts: TextSources,
    private readonly http: HttpSettings,
    private readonly standstills: Standstills,
    @Optional() private readonly webhooks?: WebhookService,
    @Optional() private readonly hooks?: LoginHookSettings,
    @Optional() private readonly campaigns?: CampaignService,
    @Optional() private readonly sms?: SmsSettings,
  ) {}

  /**
   * @param named the account that an operator looks at
   * @throws MessagingError `error.account_not_found`
   */
  async me(caller: KnownCaller, named?: string): Promise<MeView> {
    const { user, keyId } = caller;
    const operator = user?.operator ?? null;
    const scopes = caller.key?.scopes ?? KEY_SCOPES;
    const accountId = operator === null ? caller.accountId : named;
    return {
      user: user ? { subject: user.subject, role: user.operator ?? user.role } : null,
      key: keyId === undefined ? null : { id: keyId, name: caller.key?.name ?? null, scopes },
      account: accountId === undefined ? null : await this.account(accountId),
      operator,
      permissions: permissionsOf(caller, scopes),
      capabilities: this.capabilities(),
      locale: this.http.catalogue === en ? 'en' : 'fr',
      home: this.home(),
      standstills: user ? await this.standstills.of(accountId) : [],
    };
  }

  private async account(id: string): Promise<AccountSummary> {
    const standing = isAccountId(id) ? await this.store.standing(id) : undefined;
    if (!standing) throw new MessagingError('error.account_not_found');
    const { name, state, balance } = standing;
    return { id, name, state, balance };
  }

  private home(): HomeView | null {
    const country = this.sms?.home;
    if (country === undefined || !isCountryCode(country)) return null;
    return { country, calling_code: callingCodeOf(country), national_lengths: nationalLengthsOf(country) };
  }

  private capabilities(): CapabilitiesView {
    const apps = this.channels.all().filter((channel) => channel.lanes() !== undefined);
    return {
      sms: this.channels.find('sms') !== undefined,
      otp: this.texts.has('otp'),
      msgapp: apps.map(({ name }) => name),
      webhooks: this.webhooks !== undefined,
      hooks: this.hooks !== undefined,
      campaigns: this.campaigns !== undefined,
    };
  }
}

function permissionsOf({ user }: Caller, scopes: readonly KeyScope[]): readonly PermissionName[] {
  return PERMISSION_NAMES.filter((name) => {
    const { scopes: needed, role, operator } = permissionOf(name);
    if (user === undefined) return needed?.every((scope) => scopes.includes(scope)) ?? false;
    if (user.operator !== undefined) return operator !== undefined && isAtLeast(user.operator, operator);
    return role !== undefined && isAtLeast(user.role, role);
  });
}
