import { IsString } from 'class-validator';

/** Body of `POST …/phones/:number/scan`. */
export class ScanBody {
  /** The string of the `qr` event. */
  @IsString()
  readonly qr: string = '';
}
