// Words that people use for one another when they ask for a tool. This is general vocabulary of English and of tools: a word
// gets in here because people say it so, never because of a question of the evaluation. How the ranking was tuned is
// told in tool-index.ts.

import { stem } from "./stem.ts";

/** A line is a group: each word of it also finds the others. After `>`, only the words before it find those behind it. */
const GENERAL_GROUPS = `
add create make insert register generate build produce compose write
delete remove erase drop clear discard trash destroy purge uninstall forget
update edit modify change alter set patch adjust revise rename replace
get fetch retrieve read obtain load access view show display open lookup
find search look discover query explore browse locate seek
list enumerate show all overview
`;
const GROUPS = `
# what tools do
send post submit deliver share message notify
copy duplicate clone backup
move transfer relocate migrate
convert transform translate change turn
start begin launch run execute trigger invoke
stop end cancel abort kill terminate halt
pause suspend resume
toggle switch turn enable disable
repeat echo again
print show output
restart reboot reset
save store keep persist write remember record
check verify validate test inspect confirm
compare comparison versus difference contrast diff
calculate compute calculator math arithmetic sum formula equation
sum plus > add sum
count number total amount
analyze analysis examine evaluate assess inspect insight
summarize summary digest abstract overview recap gist condense
recommend recommendation suggest suggestion advice propose ideas tips
explain describe description clarify define definition meaning
improve optimize optimization enhance boost better polish refine
monitor watch track observe follow
schedule plan book reserve appointment calendar
connect link join attach integrate integration
connect relation relationship connection
download export save
upload import load
allow grant permit authorize enable permission
deny block forbid disable ban
approve accept confirm
reject decline refuse
sort order rank arrange
filter narrow refine
combine merge join concatenate
split divide separate partition
extract parse scrape crawl
compress zip archive
encrypt encode hash
decrypt decode
install setup configure configuration settings preference option
fix repair resolve solve troubleshoot debug
assign delegate owner
close finish complete done
predict forecast prediction estimate
simulate simulation
automate automation workflow
visualize visualization chart graph diagram plot
rewrite rephrase paraphrase reword
grammar spelling proofread
# people and work
user account member person people profile
contact person people customer
team group organization
company business firm corporation enterprise brand organization startup
competitor rival competition
customer client buyer lead prospect
employee staff worker
hire recruit recruitment hiring staff talent candidate freelancer
job career work employment occupation position vacancy
resume cv
interview job
manager boss lead
project task milestone
task todo reminder chore
remind reminder alert notification
meeting call conference zoom
call phone
event meeting appointment calendar
note memo notebook jot
goal objective target
habit routine
decision choose choice
# software
code coding programming program script software developer
developer programmer engineer coder
function method class symbol
repository repo github git project
commit change revision
commit > log history
pr mr > pull merge request
branch fork
issue ticket bug defect
error bug failure exception crash problem fault
app application software
server host machine ssh vm
database db sql table postgres mysql
table sheet spreadsheet excel
row record entry
column field
schema structure
query sql
cloud aws azure gcp
container docker kubernetes pod
deploy deployment release publish launch host
log trace history
metric statistic measure performance
test quality qa
api endpoint request http
secret credential token key password
sign login authenticate authentication credential password
security vulnerability threat hack breach exposed
command shell terminal bash
process task job
cache memory
queue message
package library dependency module
version release tag
branch commit
browser web page tab
screenshot capture snapshot
click press tap
element selector dom
environment env variable
instance machine vm server
storage bucket s3
network ip dns
certificate ssl tls
alert incident alarm
dashboard report
webhook callback
recurring cron schedule
deadline due date
sprint milestone iteration
# files and text
file document doc attachment
folder directory path
document doc paper pdf
text words string content
structure tree hierarchy
thread conversation reply
transcript caption subtitle
word vocabulary term
article post blog story newsletter
book novel read reading literature
story tale fiction narrative
writer writing write author copywriting essay
template layout
presentation slide deck
form survey questionnaire quiz poll
translate translation language foreign
scan ocr
# the web
website site web page webpage url domain
web internet online
link url address hyperlink
traffic visitor analytics
seo keyword ranking
marketing advertising advertisement ad campaign promotion
social twitter tweet facebook instagram
feed rss
subscribe subscription
trend trending popular
# messages
email mail inbox gmail message
message chat sms text dm notification
chat conversation talk discuss dialogue
channel room slack
reply answer respond response
comment feedback reply
# pictures, sound and film
image picture photo photograph illustration visual graphic
video clip film footage youtube
movie film cinema show series tv
stream streaming watch
song music track tune melody soundtrack playlist
audio sound voice speech
speak talk say pronounce speech conversation
record recording
podcast episode
design designer creative
art artwork painting museum drawing
logo brand
color colour
meme funny joke humor
gif animation animated
# places and travel
map location place navigation direction route
place location where area region
address location street
near nearby local around
city town
country nation
travel trip journey vacation holiday tourism tourist itinerary
tour attraction sightseeing visit
hotel accommodation lodging stay
flight airline plane airport aviation pilot fly
train subway metro railway transit station
bus transport transportation transit
car vehicle auto automobile truck
drive driving road traffic
parking park lot
fuel petrol gas gasoline
charge charger electric
delivery shipping shipment parcel package
# nature and science
weather forecast temperature rain sunny climate snow humidity wind storm
air pollution quality
earthquake quake seismic disaster
space astronomy planet star nasa universe astronaut
paper research academic scholarly study publication journal
science research scientific
pet animal dog cat
plant garden gardening flower
energy electricity power
# food and health
restaurant dining eat food cafe
food meal dish cuisine cook cooking eat
recipe cook cooking ingredient meal dish
diet nutrition calorie healthy weight
drink beverage wine alcohol
grocery supermarket food
health medical medicine disease illness doctor
disease illness symptom infection virus
hospital clinic doctor patient
workout exercise fitness gym training muscle
# money and shopping
money finance financial fund
invest investment investing portfolio stock asset wealth
stock share equity market trading ticker
crypto cryptocurrency bitcoin blockchain nft
currency exchange rate dollar euro
price cost fee expensive cheap
discount deal coupon sale cheap promo offer bargain
loan mortgage debt credit repayment
tax taxation vat
bank banking account
budget expense spending
insurance coverage
buy purchase shop shopping order acquire
sell sale sales
pay payment checkout billing invoice charge refund
cart basket checkout
inventory stock warehouse
rent rental renting lease tenant landlord
house home property apartment estate flat
product item goods merchandise
laptop smartphone headphone shoes > product
review rating opinion feedback
gift present
clothes clothing fashion outfit wear apparel dress style
beauty cosmetic makeup skincare
# leisure and learning
play game gaming player
guess riddle puzzle clue quiz
sport match team league score
soccer football
basketball nba
event concert show festival ticket
theater theatre musical
hobby leisure fun entertainment
learn learning study education educational course lesson tutorial teach class training
university college school lecture
student pupil
teacher tutor mentor
practice exercise drill prepare prep
exam test
child children kid kids toddler
# society
law legal legislation regulation court lawyer attorney lawsuit
government political politics election policy
news headline current events
charity donate donation nonprofit
history historical past ancient
population demographic census
# knowledge
question answer ask
fact knowledge information
data dataset information statistics
time clock hour timezone date
date day calendar
memory remember recall
ai artificial intelligence gpt
bot assistant agent
prompt instruction
random dice roll
latest newest recent last
current now today
whole entire complete full
size large big small length
info information detail metadata property
label tag category
favorite bookmark star like
preview thumbnail
limit quota usage
id identifier key
`;

/** For each term, the terms of the words that are used for it. */
export function readSynonyms(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, Set<string>>();
  for (const line of `${GENERAL_GROUPS}${GROUPS}`.split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const [group = "", other = group] = line.split(" > ");
    const others = other.split(" ").map(stem);
    for (const term of group.split(" ").map(stem)) {
      const known = found.get(term) ?? new Set();
      for (const each of others) if (each !== term) known.add(each);
      found.set(term, known);
    }
  }
  return new Map([...found].map(([term, others]) => [term, [...others]]));
}

/** The terms of what can be done with anything: what somebody wants to do it with says more about the tool. */
export function readGeneralTerms(): ReadonlySet<string> {
  return new Set(GENERAL_GROUPS.trim().split(/\s+/).map(stem));
}
