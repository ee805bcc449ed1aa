// The formats that are checked, each in linear time. Lenient where a stricter reading would refuse what
// honest servers send; a format that is not here is not checked.

import { isIPv4, isIPv6 } from "node:net";

type FormatCheck = (text: string) => boolean;

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const TIME = /^(\d\d):(\d\d):(\d\d)(?:\.\d{1,18})?(?:z|[+-]\d\d:?\d\d)$/i;
const EMAIL = /^[^\s@]{1,64}@[^\s@]{1,255}$/;
const UUID = /^(?:urn:uuid:)?[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;
/** A scheme, then nothing that has to be encoded; letters beyond ASCII pass. */
const URI = /^[a-z][a-z\d+.-]{0,63}:[^\s<>"{}|\\^`]*$/i;

export const FORMATS: Readonly<Record<string, FormatCheck>> = {
  "date-time": (text) =>
    /[t ]/i.test(text[10] ?? "") && isDate(text.slice(0, 10)) && isTime(text.slice(11)),
  date: isDate,
  time: isTime,
  email: (text) => EMAIL.test(text),
  uri: (text) => URI.test(text),
  uuid: (text) => UUID.test(text),
  ipv4: (text) => isIPv4(text),
  // Node takes a zone (`fe80::1%eth0`), which is no part of an address.
  ipv6: (text) => isIPv6(text) && !text.includes("%"),
};

function isDate(text: string): boolean {
  const [, year, month, day] = DATE.exec(text) ?? [];
  if (year === undefined) return false;
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  // A year below 100 would be taken for one of the last century.
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
}

function isTime(text: string): boolean {
  const [, hour, minute, second] = TIME.exec(text) ?? [];
  // A leap second is the 60th.
  return hour !== undefined && Number(hour) < 24 && Number(minute) < 60 && Number(second) <= 60;
}
