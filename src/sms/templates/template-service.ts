import { Injectable } from '@nestjs/common';
import { type Author, HOST } from '../../accounts/audit/audit-entry.js';
import { isSignatureName } from '../../accounts/signatures/signature-name.js';
import { Clock } from '../../common/clock.js';
import { MessagingError } from '../../common/errors.js';
import type { HostTransaction } from '../../common/host-transaction.js';
import { checkAccountId, checkInput, checkLimit, checkString } from '../../common/inputs.js';
import { cursorOf, textOfCursor } from '../../common/listing/list-query.js';
import { PersonalText } from '../../common/text/personal-text.js';
import { SmsSettings } from '../sms-options.js';
import { checkContent, checkText } from '../sms-pricing.js';
import { readPersonalText } from '../texts/send-text.js';
import { TEMPLATE_NAME, type Template, type TemplatePage } from './template.api.js';
import { type StoredTemplate, type TemplateDefinition, TemplateStore } from './template-store.js';

/** The text of a template, and the sender’s name of sends that give none. */
export interface TemplateChange {
  /** `{name}` stands for a value of each recipient, `{{` and `}}` for braces. */
  readonly content?: string | undefined;
  /** Default: none, so that each send must give one. */
  readonly signature?: string | null | undefined;
}

/** A template to make. */
export interface TemplateDraft extends TemplateChange {
  /** 1 to 64 of `a` to `z`, digits and hyphens. */
  readonly name: string;
}

/** A page of templates to list. */
export interface TemplateListQuery {
  /** The maximum number of items, 1 to 1000. Default 50. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the previous page. */
  readonly cursor?: string | undefined;
}

/** Who makes a change. Default: the host. */
export interface TemplateCallOptions {
  readonly by?: Author | undefined;
}

const NAME = new RegExp(TEMPLATE_NAME);

/**
 * The texts that an account's sends use by name. A send has the text as it was when the send was accepted.
 *
 * @example
 * ```ts
 * await templates.create('shop', { name: 'parcel-arrived', content: 'Bonjour {name}, votre colis est arrivé.' });
 * await sms.send('shop', { signature: 'SHOP', template: 'parcel-arrived', to: [{ number: '22670000001', vars: { name: 'Awa' } }] });
 * ```
 */
@Injectable()
export class TemplateService {
  constructor(
    private readonly store: TemplateStore,
    private readonly settings: SmsSettings,
    private readonly clock: Clock,
  ) {}

  /**
   * Makes a template. Whether the account may use the signature is decided at each send.
   * @throws MessagingError `error.field_invalid` for another name, `error.signature_format`, `error.empty_message`,
   * `error.field_not_string`, `error.stray_brace`, `error.unsendable_character`, `error.too_many_segments` for a text that
   * is too long without any value, `error.template_exists`, `error.too_many_templates`, `error.account_not_found`
   */
  async create(accountId: string, draft: TemplateDraft, { by = HOST }: TemplateCallOptions = {}): Promise<Template> {
    checkAccountId(accountId);
    checkInput(draft);
    if (!isTemplateName(draft.name)) throw new MessagingError('error.field_invalid', { field: 'name' });
    const at = this.clock.now();
    const template = { ...this.checked(draft), accountId, name: draft.name, createdAt: at, updatedAt: at };
    await this.store.create(template, by);
    return viewOf(template);
  }

  /** @throws MessagingError `error.template_not_found` */
  async get(accountId: string, name: string): Promise<Template> {
    return viewOf(await this.find(accountId, name));
  }

  /**
   * Finds the text that a send names. With `host`, it is read in the host's open transaction.
   * @throws MessagingError `error.template_not_found`
   */
  async find(accountId: string, name: string, host?: HostTransaction): Promise<StoredTemplate> {
    checkAccountId(accountId);
    return found(isTemplateName(name) ? await this.store.find({ accountId, name }, host) : undefined);
  }

  /** Lists the templates by name. @throws MessagingError `error.invalid_cursor`, `error.field_invalid` for an invalid limit */
  async list(accountId: string, query: TemplateListQuery = {}): Promise<TemplatePage> {
    checkAccountId(accountId);
    checkInput(query);
    const { limit = 50, cursor } = query;
    checkLimit(limit);
    const after = cursor === undefined ? undefined : textOfCursor(cursor, isTemplateName);
    const { items, next } = await this.store.list(accountId, { limit, after });
    return { items: items.map(viewOf), next_cursor: cursorOf(next) };
  }

  /**
   * Replaces content and signature. Sends that were accepted keep their text.
   * @throws MessagingError `error.template_not_found`, and the errors of `create` for content and signature
   */
  async replace(
    accountId: string,
    name: string,
    change: TemplateChange,
    { by = HOST }: TemplateCallOptions = {},
  ): Promise<Template> {
    checkAccountId(accountId);
    checkInput(change);
    const to = this.checked(change);
    if (!isTemplateName(name)) throw found(undefined);
    return viewOf(found(await this.store.replace({ accountId, name }, to, this.clock.now(), by)));
  }

  /** Removes a template. What was sent with it stays. @throws MessagingError `error.template_not_found` */
  async remove(
    accountId: string,
    name: string,
    { by = HOST }: TemplateCallOptions = {},
  ): Promise<{ readonly success: true }> {
    checkAccountId(accountId);
    const isRemoved = isTemplateName(name) && (await this.store.remove({ accountId, name }, this.clock.now(), by));
    if (!isRemoved) throw new MessagingError('error.template_not_found');
    return { success: true };
  }

  private checked({ content, signature }: TemplateChange): TemplateDefinition {
    const text = checkContent(content);
    const read = readPersonalText(text, this.settings);
    // What every recipient gets must be possible to send.
    checkText(typeof read === 'string' ? read : read.commonText, this.settings);
    if (signature === undefined || signature === null) return { content: text, signature: undefined };
    checkString('signature', signature);
    if (!isSignatureName(signature)) throw new MessagingError('error.signature_format');
    return { content: text, signature };
  }
}

function isTemplateName(name: unknown): name is string {
  return typeof name === 'string' && NAME.test(name);
}

function found(template: StoredTemplate | undefined): StoredTemplate {
  if (!template) throw new MessagingError('error.template_not_found');
  return template;
}

function viewOf({ name, content, signature, createdAt, updatedAt }: StoredTemplate): Template {
  const text = PersonalText.parse(content);
  return {
    name,
    content,
    signature: signature ?? null,
    variables: text instanceof PersonalText ? text.variables : [],
    created_at: new Date(createdAt).toISOString(),
    updated_at: new Date(updatedAt).toISOString(),
  };
}
