import pytest

from annotation.addresses import PlaceConverter


def test_an_address_leads_to_its_place_and_tells_nothing():
    converter = PlaceConverter()
    addresses = [converter.to_url(number) for number in range(1, 500)]
    assert [converter.to_python(address) for address in addresses] == list(range(1, 500))
    assert addresses != sorted(addresses)
    assert len({address[:4] for address in addresses}) > 400


@pytest.mark.parametrize("made_up", ["A" * 22, "Q" * 22, "AAAAAAAAAAAAAAAAAAAAAQ"])
def test_a_made_up_address_leads_nowhere(made_up):
    with pytest.raises(ValueError, match=made_up):
        PlaceConverter().to_python(made_up)
