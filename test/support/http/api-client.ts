import { type Call, call, type Reply } from './http-client.js';

/** One account's view of a service's HTTP interface. */
export class ApiClient {
  /** @param url where our routes start: `http://127.0.0.1:<port>/api/v1` */
  constructor(
    readonly url: string,
    readonly accountId: string,
    readonly key: string,
  ) {}

  call(path: string, { headers, ...rest }: Call = {}): Promise<Reply> {
    return call(`${this.url}/${path}`, { ...rest, headers: { 'x-api-key': this.key, ...headers } });
  }

  post(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
    return this.call(path, { method: 'POST', body, headers });
  }

  send(body: unknown, headers?: Readonly<Record<string, string>>): Promise<Reply> {
    return this.post('send/sms', body, headers);
  }

  /** Sends and returns the fields of the answer. Fails if it is not a 200. */
  async sent(body: unknown, headers?: Readonly<Record<string, string>>): Promise<Receipt> {
    const reply = await this.send(body, headers);
    if (reply.status !== 200) throw new Error(`The send was refused: ${JSON.stringify(reply.body)}`);
    return reply.body as Receipt;
  }

  async balance(): Promise<number> {
    const { status, body } = await this.call('balance');
    if (status !== 200) throw new Error(`No balance: ${JSON.stringify(body)}`);
    return (body as { balance: number }).balance;
  }

  async details(smsId: string): Promise<Details> {
    const { status, body } = await this.call(`sms/${smsId}`);
    if (status !== 200) throw new Error(`No SMS: ${JSON.stringify(body)}`);
    return body as Details;
  }

  /** All recipients of an SMS, page by page. */
  async recipients(smsId: string): Promise<Details['recipients']> {
    const all: Details['recipients'] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { status, body } = await this.call(`sms/${smsId}/recipients?limit=500${cursor && `&cursor=${cursor}`}`);
      if (status !== 200) throw new Error(`No recipients: ${JSON.stringify(body)}`);
      const page = body as { items: Details['recipients']; next_cursor: string | null };
      all.push(...page.items);
      cursor = page.next_cursor;
    }
    return all;
  }

  async list(query = ''): Promise<List> {
    const { status, body } = await this.call(`sms${query}`);
    if (status !== 200) throw new Error(`No list: ${JSON.stringify(body)}`);
    return body as List;
  }
}

export interface Receipt {
  readonly smsID: string;
  readonly number: string[];
  readonly sms_units: number;
  readonly date_sent: string;
}

export interface Details extends Receipt {
  readonly segments: number;
  readonly content: string;
  readonly refunded_units: number;
  readonly recipients_count: number;
  readonly recipients: {
    number: string;
    content: string | null;
    status: string;
    units: number;
    refunded_units: number;
    error: string | null;
  }[];
}

export interface List {
  readonly items: Details[];
  readonly next_cursor: string | null;
}
