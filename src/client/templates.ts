import type { Template, TemplateRemoved } from '../sms/templates/template.api.js';
import type { Caller, CallOptions } from './caller.js';
import type { Listing } from './listing.js';

export type { Template } from '../sms/templates/template.api.js';

/** The text of a template, and the sender's name of sends that give none. */
export interface TemplateChange {
  /** `{name}` stands for a value of each recipient, `{{` and `}}` for braces. */
  readonly content: string;
  readonly signature?: string | undefined;
}

/** A template to create. */
export interface TemplateOrder extends TemplateChange {
  /** 1 to 64 of `a` to `z`, digits and hyphens. */
  readonly name: string;
}

/** Which templates to list. */
export interface TemplatesQuery {
  /** 1 to 500. Default 50. */
  readonly limit?: number | undefined;
}

/** The texts that sends use by name. */
export class TemplateRoutes {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  create(order: TemplateOrder, options?: CallOptions): Promise<Template> {
    return this.#caller.json({ method: 'POST', path: ['templates'], body: order }, options);
  }

  /** Lists the templates by name. */
  list(query?: TemplatesQuery, options?: CallOptions): Listing<Template> {
    return this.#caller.list(['templates'], query, options);
  }

  get(name: string, options?: CallOptions): Promise<Template> {
    return this.#caller.json({ path: ['templates', name] }, options);
  }

  /** Replaces the text and the signature. Sends that were accepted keep their text. */
  replace(name: string, change: TemplateChange, options?: CallOptions): Promise<Template> {
    return this.#caller.json({ method: 'PUT', path: ['templates', name], body: change }, options);
  }

  remove(name: string, options?: CallOptions): Promise<TemplateRemoved> {
    return this.#caller.json({ method: 'DELETE', path: ['templates', name], gone: { success: true } }, options);
  }
}
