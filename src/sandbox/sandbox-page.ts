import { type PagePlace, pageHtml } from './page/page-html.js';

/** The page of one mounted sandbox, made once. */
export class SandboxPage {
  readonly html: string;

  constructor(place: PagePlace) {
    this.html = pageHtml(place);
  }
}
