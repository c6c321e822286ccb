/** Uses the phones of the sandbox by its own routes. */
export class SandboxPhonesClient {
  /** @param url of the application that has the sandbox */
  constructor(private readonly url: string) {}

  /** The digits of the code that a phone got after `since`, in ms; undefined until it has arrived as often as it was sent. */
  async code(number: string, since: number, sends: number): Promise<string | undefined> {
    const response = await fetch(`${this.url}/sandbox/phones/${number}/messages`);
    const messages = (await response.json()) as readonly { readonly text: string; readonly receivedAt: string }[];
    const codes = messages
      .filter(({ receivedAt }) => Date.parse(receivedAt) >= since)
      .flatMap(({ text }) => /(?<!\d)\d{4,8}(?!\d)/.exec(text)?.[0] ?? []);
    return codes[sends - 1];
  }

  /** Writes to a signature, or to a linked number of a messaging app. */
  write(number: string, to: string, text: string, channel = 'sms'): Promise<void> {
    return this.post(`${number}/messages`, { to, text, channel });
  }

  /** Links the number with a QR code. */
  scan(number: string, qr: string): Promise<void> {
    return this.post(`${number}/scan`, { qr });
  }

  private async post(path: string, body: object): Promise<void> {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${this.url}/sandbox/phones/${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`The sandbox answers ${response.status} to ${path.replace(/^\d+/, '…')}.`);
  }
}
