//! What is taken into a plan: filters, shards, repetitions, profiles by level, what is left out.
//! Requests over this project's suites go in; the cells and units of plans are compared.
//! It must never depend on how many scenarios there are, only on how choices relate.

use super::*;

fn ids(plan: &Plan) -> Vec<String> {
    plan.cells.iter().map(|cell| cell.id.clone()).collect()
}

fn filtered(filters: &[&str]) -> Vec<String> {
    let filters = filters.iter().map(|&text| text.to_owned()).collect();
    ids(&plan(&Request { filters, ..request() }))
}

/// Every unit that a cell needs is there, and no other one.
fn expect_whole(plan: &Plan) {
    let mut used = BTreeSet::new();
    for cell in &plan.cells {
        used.extend(cell.subjects().chain([&cell.baseline]));
        used.extend(cell.controls.iter().map(|control| &control.unit));
    }
    assert_eq!(plan.units.iter().map(|unit| &unit.id).collect::<BTreeSet<_>>(), used);
}

#[test]
fn filters_take_what_their_predicates_say() {
    let all = plan(&request());
    let taken = |take: &dyn Fn(&Cell) -> bool| -> Vec<String> {
        all.cells.iter().filter(|cell| take(cell)).map(|cell| cell.id.clone()).collect()
    };
    let kafka = |cell: &Cell| cell.broker == BrokerKind::Kafka;
    let redrive = |cell: &Cell| cell.property == "redrive";
    for (text, expected) in [
        ("all()", taken(&|_| true)),
        ("broker(kafka)", taken(&kafka)),
        ("broker(kafka-4.1.*)", taken(&|cell| kafka(cell) && cell.server_pin == "4.1.2")),
        ("property(redrive) and broker(kafka)", taken(&|cell| kafka(cell) && redrive(cell))),
        ("not property(redrive)", taken(&|cell| !redrive(cell))),
        ("property(redrive) or broker(kafka)", taken(&|cell| kafka(cell) || redrive(cell))),
        ("client(rdkafka)", taken(&kafka)),
        ("client(rdkafka-0.39.0)", taken(&kafka)),
        ("clause(RDR-*)", taken(&|c| c.clauses.iter().any(|clause| clause.starts_with("RDR")))),
        ("level(core) and id(*@pulsar-*)", taken(&|c| !kafka(c) && c.level == Level::Core)),
    ] {
        assert!(!expected.is_empty(), "{text}");
        assert_eq!(filtered(&[text]), expected, "{text}");
    }
    let either = taken(&|cell| redrive(cell) || cell.property == "dead-letter");
    assert_eq!(filtered(&["property(redrive)", "property(dead-letter)"]), either);
}

#[test]
fn a_predicate_that_fits_nothing_is_a_misspelling() {
    let filters = vec!["property(redriv) or not broker(kafak)".to_owned(), "clause(ack-3)".into()];
    let problems = build(&suites(), &Request { filters, ..request() }).unwrap_err();
    let told: Vec<(usize, &str)> = problems.iter().map(|p| (p.column, &*p.help)).collect();
    let expected = [
        (10, "did you mean `redrive`?"),
        (32, "did you mean `kafka`?"),
        (8, "did you mean `ACK-3`?"),
    ];
    assert_eq!(told, expected);
    // Not a misspelling, and still nothing: both fit something, and no cell fits both.
    let filters = vec!["client(rdkafka) and broker(pulsar)".to_owned()];
    let problems = build(&suites(), &Request { filters, ..request() }).unwrap_err();
    assert_eq!(problems[0].message, "this takes no cell at all");
}

#[test]
fn shards_part_a_plan_and_take_along_what_their_cells_need() {
    let all = plan(&request());
    let mut union = BTreeSet::new();
    for index in 1..=3 {
        let shard = Some(format!("{index}/3"));
        let part = plan(&Request { shard, ..request() });
        expect_whole(&part);
        for cell in &part.cells {
            assert!(all.cells.contains(cell), "{}", cell.id);
            assert!(union.insert(cell.id.clone()), "{} is in two parts", cell.id);
        }
        assert!(part.units.iter().all(|unit| all.units.contains(unit)));
    }
    assert_eq!(union, ids(&all).into_iter().collect());
}

#[test]
fn a_shard_stays_when_scenarios_come_and_go() {
    let of = |filters: &[&str]| {
        let filters = filters.iter().map(|&text| text.to_owned()).collect();
        ids(&plan(&Request { shard: Some("1/2".into()), filters, ..request() }))
    };
    let all = of(&["all()"]);
    let fewer = of(&["not property(redrive)"]);
    let kept: Vec<String> = all.into_iter().filter(|id| !id.starts_with("redrive/")).collect();
    assert_eq!(fewer, kept);
}

#[test]
fn a_part_without_a_cell_is_said_to_be_one() {
    let one = "id(redrive/interrupted@kafka-4.3.1*)";
    let parts: Vec<_> = (1..=2)
        .map(|index| {
            let (shard, filters) = (Some(format!("{index}/2")), vec![one.to_owned()]);
            build(&suites(), &Request { shard, filters, ..request() })
        })
        .collect();
    let empty: Vec<_> = parts.iter().filter_map(|part| part.as_ref().err()).collect();
    assert_eq!(empty.len(), 1);
    assert_eq!(empty[0][0].message, "no cell of 1 falls into this part");
}

#[test]
fn repetitions_are_cells_and_subjects_of_their_own_with_shared_controls() {
    let once = plan(&request());
    let repeat = NonZeroU32::new(3).unwrap();
    let thrice = plan(&Request { repeat, ..request() });
    expect_whole(&thrice);
    assert_eq!(thrice.cells.len(), once.cells.len() * 3);
    for cells in thrice.cells.chunks(3) {
        let [first, second, third] = cells else { panic!("three each") };
        assert_eq!(second.id, format!("{}#2", first.id));
        assert_eq!(third.id, format!("{}#3", first.id));
        assert_eq!(second.subject, format!("{}#2", first.subject));
        assert_eq!((&first.controls, &first.baseline), (&second.controls, &second.baseline));
        let seed = |id: &str| thrice.units.iter().find(|unit| unit.id == id).unwrap().seed;
        assert_ne!(seed(&first.subject), seed(&second.subject));
        assert!(once.cells.contains(first));
    }
    let filters = vec![format!("id({})", thrice.cells[1].id)];
    let alone = plan(&Request { repeat, filters, ..request() });
    assert_eq!(alone.cells, thrice.cells[1..2]);
    let subjects = Subjects::OnlyControls;
    let controls = plan(&Request { repeat, subjects, ..request() });
    expect_whole(&controls);
    assert!(controls.cells[1].id.ends_with("#2") && controls.cells[1].id.contains('~'));
    let repeat = NonZeroU32::new(1001).unwrap();
    let problems = build(&suites(), &Request { repeat, ..request() }).unwrap_err();
    assert!(problems[0].message.contains("more than 1000"), "{}", problems[0]);
}

#[test]
fn a_story_that_is_told_several_times_is_one_cell_with_a_unit_for_each() {
    let behaviours = load(&["fixtures/suites/behaviours"]);
    let sets = vec!["current".to_owned()];
    let worker = Path::new("fixtures/workers/rust/worker.yaml");
    let manifests = vec![crate::suite::manifest::load(worker).unwrap()];
    let profile = None;
    // This client lacks what it needs, so that it has no units.
    let filters = vec!["not id(behaviours/part-of-a-batch*)".to_owned()];
    let request = Request { profile, filters, sets, manifests, ..request() };
    let planned = |request: &Request| match build(&behaviours, request) {
        Ok(plan) => plan,
        Err(problems) => panic!("{}", problems[0]),
    };
    let plan = planned(&request);
    expect_whole(&plan);
    let cell = &plan.cells[0];
    let rate = cell.rate.clone().unwrap();
    let id = &cell.subject;
    assert_eq!(rate.others, [format!("{id}+run-2"), format!("{id}+run-3")]);
    assert_eq!(rate.at_least, 3);
    let units: Vec<&Unit> =
        cell.subjects().map(|id| plan.units.iter().find(|u| u.id == *id).unwrap()).collect();
    let seeds: BTreeSet<u64> = units.iter().map(|unit| unit.seed).collect();
    assert_eq!(seeds.len(), 3);
    assert!(units.iter().all(|unit| unit.kind == UnitKind::Subject));
    assert!(plan.cells[1..].iter().all(|cell| cell.rate.is_none()));
    // The scenario's own seed goes before the plan's, for these units and no others.
    let other = planned(&Request { seed: 8, ..request.clone() });
    let seed = |plan: &Plan, id: &str| plan.units.iter().find(|u| u.id == id).unwrap().seed;
    assert!(cell.subjects().all(|id| seed(&plan, id) == seed(&other, id)));
    assert_ne!(seed(&plan, &cell.baseline), seed(&other, &cell.baseline));
    assert_eq!(plan.clone().only(&BTreeSet::from([cell.id.clone()])).cells[0].rate, cell.rate);
    // A control is asked once whether it is caught.
    let subjects = Subjects::OnlyControls;
    assert!(planned(&Request { subjects, ..request }).cells.iter().all(|cell| cell.rate.is_none()));
}

#[test]
fn what_is_left_out_on_purpose_stands_in_the_plan() {
    let all = plan(&request());
    let part = plan(&Request { without: vec!["pulsar".into()], ..request() });
    expect_whole(&part);
    assert!(part.cells.iter().all(|cell| cell.broker == BrokerKind::Kafka));
    let [LeftOut { word, cells }] = &part.left_out[..] else { panic!("{:?}", part.left_out) };
    assert_eq!(word, "pulsar");
    let mut together: Vec<String> = ids(&part).into_iter().chain(cells.clone()).collect();
    let mut whole = ids(&all);
    together.sort();
    whole.sort();
    assert_eq!(together, whole);
    // Nothing that was asked for is missing: the profile is as whole as it was wanted.
    let filters = vec!["broker(kafka)".to_owned()];
    let kafka = plan(&Request { without: vec!["pulsar".into()], filters, ..request() });
    assert_eq!(kafka.left_out, []);
    let wrong = |word: &str| {
        build(&suites(), &Request { without: vec![word.into()], ..request() }).unwrap_err()
    };
    assert!(wrong("pulsra")[0].help.contains("`pulsar`"));
    let language = request().manifests[0].language.clone();
    assert!(wrong(&language)[0].message.contains("no cell at all without"));
}

#[test]
fn profiles_may_take_scenarios_by_level() {
    let mut loaded = suites();
    // The worker of the fixtures decides on little.
    loaded.suites.retain(|read| read.file.property.value != "reports");
    loaded.suites[0].file.scenarios[0].value.level = Level::Extended;
    loaded.suites[1].file.scenarios[0].value.level = Level::Informational;
    let levels = |profile: &str| -> BTreeSet<Level> {
        let request = Request { profile: Some(profile.into()), ..request() };
        build(&loaded, &request).unwrap().cells.iter().map(|cell| cell.level).collect()
    };
    assert_eq!(levels("core"), BTreeSet::from([Level::Core]));
    assert_eq!(levels("extended"), BTreeSet::from([Level::Core, Level::Extended]));
    let all = BTreeSet::from([Level::Core, Level::Extended, Level::Informational]);
    assert_eq!(levels("all"), all);
}

#[test]
fn a_part_of_a_plan_keeps_what_its_cells_need() {
    let all = plan(&request());
    let wanted = BTreeSet::from([all.cells[1].id.clone()]);
    let part = all.clone().only(&wanted);
    assert_eq!(part.cells, all.cells[1..2]);
    expect_whole(&part);
}
